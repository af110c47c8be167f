import Foundation
import SystemPackage
import Testing
import VaultBase
import VaultCrypto

/// Key files under a passphrase. What other programs read and write is in Tests/Interop/keys.
@Suite("Encrypted key files") struct EncryptedKeyFileTests {
    static func passphrase(_ text: String) -> PassphraseSource {
        PassphraseSource(encryptingNewFiles: true) { _ in SecretBytes(copying: Array(text.utf8).span) }
    }

    static func ring(_ text: String, _ passphrase: PassphraseSource?) throws(VaultError) -> KeyRing {
        try KeyRing(
            parsingJWK: SecretBytes(copying: Array(text.utf8).span), place: "file", passphrase: passphrase)
    }

    static func refusal(_ text: String, _ passphrase: PassphraseSource? = passphrase("x")) -> VaultError? {
        do throws(VaultError) {
            _ = try ring(text, passphrase)
            return nil
        } catch { return error }
    }

    @Test("RFC 7517, appendix C: the key is an RSA key, which is no vault key")
    func published() {
        let right = Self.refusal(
            Self.rfc7517, Self.passphrase("Thus from my lips, by yours, my sin is purged."))
        #expect(right?.problem == "\"kty\" is not \"oct\"")
        let wrong = Self.refusal(
            Self.rfc7517, Self.passphrase("Thus from my lips, by yours, my sin is purged"))
        #expect(wrong?.problem == "the passphrase does not open the keys")
        let changed = Self.rfc7517.dropLast() + "Q"
        let damage = Self.refusal(
            String(changed), Self.passphrase("Thus from my lips, by yours, my sin is purged."))
        #expect(damage?.problem == "the encrypted keys were changed")
        #expect([right, wrong, damage].allSatisfy { $0?.category == .key && $0?.place == "file" })
    }

    @Test("a file that the program jose wrote, which has the salt in an unprotected header")
    func flattened() throws {
        let ring = try Self.ring(Self.jose, Self.passphrase("hunter2"))
        #expect(ring.vaultKeyBytes == [(0..<32).map { UInt8($0) }])
        #expect(ring.ids == ["a"])
        let other = Self.jose.replacing("\"p2s\":\"Mg", with: "\"p2s\":\"Mh")
        #expect(Self.refusal(other, Self.passphrase("hunter2"))?.category == .key)
    }

    @Test("a written file is a JWE, and opens with its passphrase alone; an unencrypted one needs none")
    func written() async throws {
        let folder = try TestFolder()
        let path = folder.path.appending("vault.jwks")
        let id = try VaultKeyFile.generate(at: path, passphrase: Self.passphrase("secret"))
        let text = try String(contentsOfFile: path.string, encoding: .utf8)
        #expect(!text.contains("\"k\"") && !text.contains("\(id)"))
        let attributes = try FileManager.default.attributesOfItem(atPath: path.string)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let provider = FileKeyProvider(path: path, passphrase: Self.passphrase("secret"))
        #expect(try await provider.allKeys().ids == [id.description])
        let wrong = FileKeyProvider(path: path, passphrase: Self.passphrase("Secret"))
        #expect(await failure { _ = try await wrong.allKeys() }?.category == .key)
        let none = await failure { _ = try await FileKeyProvider(path: path).allKeys() }
        #expect(
            none?.category == .key && none?.problem == "the keys are encrypted" && none?.hint == .passphrase)
        for name in ["keys/vault.jwe", "keys/vault"] {
            try folder.write(text, to: name)
        }
        let all = DirectoryKeyProvider(
            path: folder.path.appending("keys"), passphrase: Self.passphrase("secret"))
        #expect(try await all.allKeys().ids == [id.description])

        let plain = folder.path.appending("plain.jwks")
        let other = try VaultKeyFile.generate(at: plain)
        #expect(
            try await FileKeyProvider(path: plain, passphrase: Self.passphrase("secret")).allKeys().ids
                == [other.description])
    }

    @Test("keys are written in the form of another file")
    func rewritten() async throws {
        let folder = try TestFolder()
        let (encrypted, plain) = (folder.path.appending("encrypted"), folder.path.appending("plain"))
        let passphrase = Self.passphrase("secret")
        try VaultKeyFile.generate(at: encrypted, passphrase: passphrase)
        try VaultKeyFile.generate(at: plain)
        let ring = KeyRing(vaultKeys: [try VaultKey.generate()])
        for original in [encrypted, plain] {
            let copy = folder.path.appending("copy of \(original.lastComponent?.string ?? "")")
            for path in [copy, original] {
                try VaultKeyFile.write(ring, to: path, like: original, passphrase: passphrase)
                let text = try String(contentsOfFile: path.string, encoding: .utf8)
                #expect(text.contains("\"ciphertext\"") == (original == encrypted))
                #expect(text.contains("\"k\"") == (original == plain))
                #expect(
                    try await FileKeyProvider(path: path, passphrase: passphrase).allKeys().ids == ring.ids)
            }
        }
        let refused = await failure {
            try VaultKeyFile.write(ring, to: encrypted, like: encrypted, passphrase: nil)
        }
        #expect(refused?.problem == "the keys are encrypted")
    }

    @Test("one question for a file that does not change, one for each file")
    func questions() async throws {
        let folder = try TestFolder()
        let asked = Asked()
        let source = PassphraseSource(encryptingNewFiles: true) { question in
            asked.note(question)
            return SecretBytes(copying: Array("hunter2\n".utf8).span)
        }
        for name in ["a", "b"] {
            let path = try folder.write(Self.jose, to: name)
            let provider = FileKeyProvider(path: path, passphrase: source)
            for _ in 0..<3 { _ = try await provider.allKeys() }
        }
        #expect(asked.count == 1, "both files are the same")
        try VaultKeyFile.generate(at: folder.path.appending("c"), passphrase: source)
        try VaultKeyFile.generate(at: folder.path.appending("d"), passphrase: source)
        #expect(asked.count == 3)
    }

    @Test(
        "headers that no file of keys has",
        arguments: [
            (#""alg":"RSA-OAEP""#, "\"alg\""), (#""alg":"PBES2-HS512""#, "\"alg\""), (#""alg":1"#, "\"alg\""),
            (#""enc":"A256CTR""#, "\"enc\""), (#""enc":null"#, "\"enc\""), (#""p2c":999"#, "\"p2c\""),
            (#""p2c":10000001"#, "\"p2c\""), (#""p2c":-1"#, "\"p2c\""),
            (#""p2c":9007199254740991"#, "\"p2c\""),
            (#""p2c":"1000""#, "\"p2c\""), (#""p2c":1e6"#, "header"), (#""p2s":"AAECAwQFBg""#, "\"p2s\""),
            (#""p2s":"AAECAwQFBgc=""#, "\"p2s\""), (#""p2s":[]"#, "\"p2s\""), (#""zip":"DEF""#, "\"zip\""),
            (#""crit":["exp"]"#, "\"crit\""), (#""cty":"JWT""#, "\"cty\""), (#""cty":7"#, "\"cty\""),
            (#""p2c":2000,"p2c":2000"#, "header"), (#""x":"#, "header"),
        ])
    func headers(member: String, problem: String) {
        let name = member.prefix { $0 != ":" }
        let good = [
            #""alg":"PBES2-HS512+A256KW""#, #""enc":"A256GCM""#, #""p2c":1000"#, #""p2s":"AAECAwQFBgc""#,
        ]
        let header = "{\((good.filter { !$0.hasPrefix(name) } + [member]).joined(separator: ","))}"
        let error = Self.refusal(Self.compact(header))
        #expect(error?.category == .key && error?.place == "file")
        #expect(error?.problem.contains(problem) == true, "\(error?.problem ?? "nothing")")
    }

    @Test("shapes that no JWE has; each is an error, and none of them a crash")
    func shapes() {
        let header = #"{"alg":"PBES2-HS512+A256KW","enc":"A256GCM","p2c":1000,"p2s":"AAECAwQFBgc"}"#
        let good = Self.compact(header)
        #expect(Self.refusal(good)?.problem == "the passphrase does not open the keys")
        let parts = good.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        var texts: [String] = []
        for index in 0..<5 {
            for part in ["", "A", "AA", "AAAA", "e", "{}", parts[index] + "=", parts[index] + "AAAA"] {
                var changed = parts
                changed[index] = part
                texts.append(changed.joined(separator: "."))
            }
            texts.append(parts.prefix(index).joined(separator: "."))
        }
        texts += [good + ".", good + "." + good, "e", "....", "e....", ".....", "\u{0}"]
        let encoded = parts[0]
        for members in [
            #""ciphertext":"AA""#, #""ciphertext":1,"protected":"\#(encoded)""#,
            #""ciphertext":"","protected":"""#,
            #""ciphertext":"AA","protected":"\#(encoded)","header":{"p2c":1000}"#,
            #""ciphertext":"AA","protected":"\#(encoded)","header":[]"#,
            #""ciphertext":"AA","protected":"\#(encoded)","unprotected":1"#,
            #""ciphertext":"AA","protected":"\#(encoded)","recipients":[]"#,
            #""ciphertext":"AA","protected":"\#(encoded)","aad":"AA""#,
            #""ciphertext":"AA","protected":"\#(encoded)","encrypted_key":"","iv":"","tag":"""#,
        ] { texts.append("{\(members)}") }
        for text in texts {
            let error = Self.refusal(text)
            #expect(error?.category == .key, "\(text)")
        }
    }

    /// A compact JWE with this header, of zeros.
    static func compact(_ header: String) -> String {
        let zeros = [40, 12, 10, 16].map { Base64URL.encode([UInt8](repeating: 0, count: $0).span) }
        return ([Base64URL.encode(Array(header.utf8).span)] + zeros).joined(separator: ".")
    }

    static let jose = #"""
        {"ciphertext":"QVdmGj1ce5D9Wt8_I6a-06bqSTYHmWcRJV2UYCs4aZqCMGxjc999EBt7NMQ11cixCnLd_EBeyEoOAc_hiWfukYrFOGrBiB0L9thjzq78k7rc67h3LNbPk0L8qw9A7LDCPA7Rbg","encrypted_key":"7cmk6cuItKwQ5aQTk129aaq_r_t3Wb5qrVb8bS2yxpumF98rElXsXA","header":{"p2s":"MgYXyeSSdOxEyIAtAIPY-_0gXygVTr0wg6DBELV0Iro"},"iv":"0ehB3it5_vb0jABC","protected":"eyJhbGciOiJQQkVTMi1IUzUxMitBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIiwicDJjIjoyMDAwMH0","tag":"bf0tD7G6GRAh1QEevkmyFA"}
        """#

    static let rfc7517 = """
        eyJhbGciOiJQQkVTMi1IUzI1NitBMTI4S1ciLCJwMnMiOiIyV0NUY0paMVJ2ZF9DSnVKcmlwUTF3IiwicDJjIjo0MDk2LCJlbmMiOiJBMTI4Q0
        JDLUhTMjU2IiwiY3R5IjoiandrK2pzb24ifQ.TrqXOwuNUfDV9VPTNbyGvEJ9JMjefAVn-TR1uIxR9p6hsRQh9Tk7BA.Ye9j1qs22DmRSAddIh
        -VnA.AwhB8lxrlKjFn02LGWEqg27H4Tg9fyZAbFv3p5ZicHpj64QyHC44qqlZ3JEmnZTgQowIqZJ13jbyHB8LgePiqUJ1hf6M2HPLgzw8L-mEe
        Q0jvDUTrE07NtOerBk8bwBQyZ6g0kQ3DEOIglfYxV8-FJvNBYwbqN1Bck6d_i7OtjSHV-8DIrp-3JcRIe05YKy3Oi34Z_GOiAc1EK21B11c_AE
        11PII_wvvtRiUiG8YofQXakWd1_O98Kap-UgmyWPfreUJ3lJPnbD4Ve95owEfMGLOPflo2MnjaTDCwQokoJ_xplQ2vNPz8iguLcHBoKllyQFJL
        2mOWBwqhBo9Oj-O800as5mmLsvQMTflIrIEbbTMzHMBZ8EFW9fWwwFu0DWQJGkMNhmBZQ-3lvqTc-M6-gWA6D8PDhONfP2Oib2HGizwG1iEaX8
        GRyUpfLuljCLIe1DkGOewhKuKkZh04DKNM5Nbugf2atmU9OP0Ldx5peCUtRG1gMVl7Qup5ZXHTjgPDr5b2N731UooCGAUqHdgGhg0JVJ_ObCTd
        jsH4CF1SJsdUhrXvYx3HJh2Xd7CwJRzU_3Y1GxYU6-s3GFPbirfqqEipJDBTHpcoCmyrwYjYHFgnlqBZRotRrS95g8F95bRXqsaDY7UgQGwBQB
        wy665d0zpvTasvfXf_c0MWAl-neFaKOW_Px6g4EUDjG1GWSXV9cLStLw_0ovdApDIFLHYHePyagyHjouQUuGiq7BsYwYrwaF06tgB8hV8omLNf
        MEmDPJaZUzMuHw6tBDwGkzD-tS_ub9hxrpJ4UsOWnt5rGUyoN2N_c1-TQlXxm5oto14MxnoAyBQBpwIEgSH3Y4ZhwKBhHPjSo0cdwuNdYbGPpb
        -YUvF-2NZzODiQ1OvWQBRHSbPWYz_xbGkgD504LRtqRwCO7CC_CyyURi1sEssPVsMJRX_U4LFEOc82TiDdqjKOjRUfKK5rqLi8nBE9soQ0DSaO
        oFQZiGrBrqxDsNYiAYAmxxkos-i3nX4qtByVx85sCE5U_0MqG7COxZWMOPEFrDaepUV-cOyrvoUIng8i8ljKBKxETY2BgPegKBYCxsAUcAkKam
        SCC9AiBxA0UOHyhTqtlvMksO7AEhNC2-YzPyx1FkhMoS4LLe6E_pFsMlmjA6P1NSge9C5G5tETYXGAn6b1xZbHtmwrPScro9LWhVmAaA7_bxYO
        bnFUxgWtK4vzzQBjZJ36UTk4OTB-JvKWgfVWCFsaw5WCHj6Oo4jpO7d2yN7WMfAj2hTEabz9wumQ0TMhBduZ-QON3pYObSy7TSC1vVme0NJrwF
        _cJRehKTFmdlXGVldPxZCplr7ZQqRQhF8JP-l4mEQVnCaWGn9ONHlemczGOS-A-wwtnmwjIB1V_vgJRf4FdpV-4hUk4-QLpu3-1lWFxrtZKcgg
        q3tWTduRo5_QebQbUUT_VSCgsFcOmyWKoj56lbxthN19hq1XGWbLGfrrR6MWh23vk01zn8FVwi7uFwEnRYSafsnWLa1Z5TpBj9GvAdl2H9NHwz
        pB5NqHpZNkQ3NMDj13Fn8fzO0JB83Etbm_tnFQfcb13X3bJ15Cz-Ww1MGhvIpGGnMBT_ADp9xSIyAM9dQ1yeVXk-AIgWBUlN5uyWSGyCxp0cJw
        x7HxM38z0UIeBu-MytL-eqndM7LxytsVzCbjOTSVRmhYEMIzUAnS1gs7uMQAGRdgRIElTJESGMjb_4bZq9s6Ve1LKkSi0_QDsrABaLe55UY0zF
        4ZSfOV5PMyPtocwV_dcNPlxLgNAD1BFX_Z9kAdMZQW6fAmsfFle0zAoMe4l9pMESH0JB4sJGdCKtQXj1cXNydDYozF7l8H00BV_Er7zd6VtIw0
        MxwkFCTatsv_R-GsBCH218RgVPsfYhwVuT8R4HarpzsDBufC4r8_c8fc9Z278sQ081jFjOja6L2x0N_ImzFNXU6xwO-Ska-QeuvYZ3X_L31ZOX
        4Llp-7QSfgDoHnOxFv1Xws-D5mDHD3zxOup2b2TppdKTZb9eW2vxUVviM8OI9atBfPKMGAOv9omA-6vv5IxUH0-lWMiHLQ_g8vnswp-Jav0c4t
        6URVUzujNOoNd_CBGGVnHiJTCHl88LQxsqLHHIu4Fz-U2SGnlxGTj0-ihit2ELGRv4vO8E1BosTmf0cx3qgG0Pq0eOLBDIHsrdZ_CCAiTc0HVk
        Mbyq1M6qEhM-q5P6y1QCIrwg.0HFmhOzsQ98nNWJjIHkR7A
        """.filter { !$0.isWhitespace }
}

private final class Asked: @unchecked Sendable {
    private let lock = NSLock()
    private var questions: [PassphraseSource.Question] = []

    func note(_ question: PassphraseSource.Question) { lock.withLock { questions.append(question) } }
    var count: Int { lock.withLock { questions.count } }
}
