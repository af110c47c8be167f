import SystemPackage
import Testing
import VaultBase
import VaultCrypto

@Suite("JWK rules") struct JWKTests {
    static let key = SampleKey(value: 7)

    @Test("alg distinguishes vault keys and content keys")
    func kinds() throws {
        let id = [UInt8](0..<16)
        let both = try ring(jwkSet(Self.key.vaultJWK("one"), SampleKey(value: 8).contentJWK(id)))
        #expect(both.vaultKeys.map(\.id.description) == ["one"])
        #expect(both.vaultKeyBytes == [Self.key.bytes])
        #expect(both.contentKeys.map(\.contentKeyID) == [id])
        #expect(both.contentKeys.map { $0.secret.copied } == [SampleKey(value: 8).bytes])
        #expect(both.contentKeys.first?.id.description == Base64URL.encode(id.span))
    }

    @Test("one JWK with unknown members")
    func single() throws {
        let text = #"""
             { "exp": 1234, "x": {"kid": [1, {"k": null}]}, "kty": "oct", "k": "\#(Self.key.text)",
               "use":"enc", "key_ops": ["wrapKey", "unwrapKey"], "alg": "A256KW", "kid": "a-_Z9" }
            """#
        let read = try ring(text)
        #expect(read.ids == ["a-_Z9"])
        #expect(read.vaultKeyBytes == [Self.key.bytes])
    }

    @Test("an absent kid is the RFC 7638 thumbprint")
    func thumbprint() throws {
        // printf '{"k":"BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc","kty":"oct"}' | openssl dgst -sha256 -binary |
        // basenc --base64url
        let read = try ring(Self.key.vaultJWK(nil))
        #expect(read.ids == ["X7ZeXWu3bq09ofncmqKiVAjOnOY7Pqoi80PIsv-egCI"])
    }

    @Test("keys of other types are skipped in a set, but refused alone")
    func otherTypes() throws {
        let other = #"{"kty":"RSA","kid":"not a kid of ours","n":"AQAB","e":"AQAB","alg":"RS256"}"#
        #expect(try ring(jwkSet(other, Self.key.vaultJWK("one"))).ids == ["one"])
        #expect(try ring(jwkSet()).isEmpty)
        #expect(throws: VaultError.self) { try ring(other) }
    }

    @Test("duplicate keys are merged, other keys of the same ID are kept")
    func candidates() throws {
        var all = try ring(Self.key.vaultJWK("one"))
        all.append(try ring(Self.key.vaultJWK("one")))
        all.append(try ring(SampleKey(value: 9).vaultJWK("one")))
        #expect(all.vaultKeyBytes == [Self.key.bytes, SampleKey(value: 9).bytes])
        #expect(all.keys(for: try KeyID("one")).vaultKeys.count == 2)
        #expect(all.keys(for: try KeyID("One")).isEmpty)
    }

    struct Refused: CustomTestStringConvertible, Sendable {
        let why: String
        let text: String
        let problem: String
        var testDescription: String { why }
    }

    private static let k = key.text
    private static let content = #""kty":"oct","alg":"x-assetvault-content-1","k":"\#(k)""#
    private static let vault = #""kty":"oct","alg":"A256KW","k":"\#(k)""#
    private static let contentID = #""kid":"AAECAwQFBgcICQoLDA0ODw""#

    static let refused: [Refused] = [
        Refused(why: "empty", text: "", problem: "ends too early"),
        Refused(why: "a raw key", text: k, problem: "expected a JSON value"),
        Refused(
            why: "a signing key", text: "-----BEGIN PRIVATE KEY-----\n\(k)\n-----END PRIVATE KEY-----\n",
            problem: "but a PEM file"),
        Refused(why: "a JSON string", text: "\"\(k)\"", problem: "is not a JWK"),
        Refused(why: "cut off", text: "{\(vault)", problem: "ends too early"),
        Refused(why: "more data", text: "{\(vault)} {}", problem: "more data"),
        Refused(why: "about something else", text: #"{"type":"service_account"}"#, problem: "neither a JWK"),
        Refused(why: "JWK and set at once", text: #"{\#(vault),"keys":[]}"#, problem: "at once"),
        Refused(why: "a member twice", text: #"{\#(vault),"k":"\#(k)"}"#, problem: "twice"),
        Refused(why: "a member twice by escapes", text: #"{\#(vault),"\u006b":"\#(k)"}"#, problem: "twice"),
        Refused(why: "an unknown member twice", text: #"{\#(vault),"a":1,"a":1}"#, problem: "twice"),
        Refused(
            why: "a kid twice", text: jwkSet(key.vaultJWK("a"), key.vaultJWK("a")), problem: "the kid 'a'"),
        Refused(
            why: "a kid twice, of two kinds",
            text:
                #"{"keys":[{\#(vault),\#(contentID)},{\#(content),"key_ops":["deriveKey"],\#(contentID)}]}"#,
            problem: "two keys"),
        Refused(why: "kid with a slash", text: #"{\#(vault),"kid":"../x"}"#, problem: "key ID"),
        Refused(why: "empty kid", text: #"{\#(vault),"kid":""}"#, problem: "key ID"),
        Refused(
            why: "long kid", text: #"{\#(vault),"kid":"\#(String(repeating: "a", count: 65))"}"#,
            problem: "key ID"),
        Refused(why: "kid of other letters", text: #"{\#(vault),"kid":"é"}"#, problem: "key ID"),
        Refused(why: "kid no string", text: #"{\#(vault),"kid":1}"#, problem: "\"kid\" is not a string"),
        Refused(why: "no kty", text: #"{"keys":[],"alg":"A256KW","kty":null}"#, problem: "\"kty\" is not"),
        Refused(why: "no k", text: #"{"kty":"oct","alg":"A256KW"}"#, problem: "\"k\" is missing"),
        Refused(why: "k no string", text: #"{"kty":"oct","alg":"A256KW","k":5}"#, problem: "\"k\" is not"),
        Refused(
            why: "k padded", text: #"{"kty":"oct","alg":"A256KW","k":"\#(k)="}"#, problem: "not 32 bytes"),
        Refused(
            why: "k too short", text: #"{"kty":"oct","alg":"A256KW","k":"\#(k.dropLast(4))"}"#,
            problem: "not 32 bytes"),
        Refused(
            why: "k too long", text: #"{"kty":"oct","alg":"A256KW","k":"\#(k)\#(k)"}"#,
            problem: "not 32 bytes"),
        Refused(
            why: "k with spare bits", text: #"{"kty":"oct","alg":"A256KW","k":"\#(k.dropLast())d"}"#,
            problem: "not 32 bytes"),
        Refused(
            why: "k in the other alphabet", text: #"{"kty":"oct","alg":"A256KW","k":"+\#(k.dropFirst())"}"#,
            problem: "not 32 bytes"),
        Refused(
            why: "k with escapes", text: #"{"kty":"oct","alg":"A256KW","k":"\u0042\#(k.dropFirst())"}"#,
            problem: "not 32 bytes"),
        Refused(why: "no alg", text: #"{"kty":"oct","k":"\#(k)"}"#, problem: "\"alg\" is missing"),
        Refused(
            why: "another alg", text: #"{"kty":"oct","alg":"A128KW","k":"\#(k)"}"#,
            problem: "\"alg\" is neither"),
        Refused(why: "for signatures", text: #"{\#(vault),"use":"sig"}"#, problem: "\"use\""),
        Refused(why: "to encrypt only", text: #"{\#(vault),"key_ops":["encrypt"]}"#, problem: "\"key_ops\""),
        Refused(why: "to unwrap only", text: #"{\#(vault),"key_ops":["unwrapKey"]}"#, problem: "\"key_ops\""),
        Refused(
            why: "an operation twice", text: #"{\#(vault),"key_ops":["wrapKey","unwrapKey","wrapKey"]}"#,
            problem: "twice"),
        Refused(
            why: "operations no array", text: #"{\#(vault),"key_ops":"wrapKey"}"#, problem: "\"key_ops\""),
        Refused(why: "keys no array", text: #"{"keys":{}}"#, problem: "\"keys\""),
        Refused(why: "a set in a set", text: #"{"keys":[[]]}"#, problem: "\"keys\""),
        Refused(
            why: "content key without operations", text: "{\(content),\(contentID)}",
            problem: "of a content key"),
        Refused(
            why: "content key that may wrap",
            text: #"{\#(content),\#(contentID),"key_ops":["wrapKey","unwrapKey"]}"#,
            problem: "of a content key"),
        Refused(
            why: "content key without kid", text: #"{\#(content),"key_ops":["deriveKey"]}"#,
            problem: "not the base64url"),
        Refused(
            why: "content key with another kid", text: #"{\#(content),"key_ops":["deriveKey"],"kid":"AAEC"}"#,
            problem: "not the base64url"),
    ]

    @Test("each error has its own text without a secret", arguments: refused)
    func faults(_ refused: Refused) async {
        let error = await failure { _ = try ring(refused.text, place: "the ring") }
        #expect(error?.category == .key)
        #expect(error?.place == "the ring")
        #expect(error?.problem.contains(refused.problem) == true, "\(String(describing: error))")
        // Even 8 of its 43 characters would reveal a part of the key.
        #expect(error?.description.contains(Self.k.prefix(8)) == false)
    }
}
