import StrictJSON
import VaultErrors

/// The members of one JWK, without any validation. The secret stays in the source, only its range is stored. Other
/// members are ignored, as RFC 7517, section 4 requires.
struct JWKMembers {
    var type: String?
    var id: String?
    var algorithm: String?
    var use: String?
    var operations: [String]?
    var secret: JSONText?
    /// The elements of `keys`, which make the object a JWK Set (RFC 7517, section 5).
    var elements: [JWKMembers]?

    /// Reads the members of an object after its `{`.
    ///
    /// - Throws: `.corrupt`, without any value in the text.
    init(from reader: inout JSONReader, in source: Span<UInt8>, place: String, canBeSet: Bool)
        throws(VaultError)
    {
        var seen: Set<[UInt8]> = []
        while case .key(let name) = try reader.next(in: source) {
            let name = name.string(in: source)
            guard seen.insert(Array(name.utf8)).inserted else {
                throw VaultError(
                    .corrupt, "a member of a JWK occurs twice", at: place, remedy: "remove one of the two")
            }
            let value = try reader.next(in: source)
            switch Array(name.utf8) {
            case Array("kty".utf8): type = try value.text("kty", place).string(in: source)
            case Array("kid".utf8): id = try value.text("kid", place).string(in: source)
            case Array("alg".utf8): algorithm = try value.text("alg", place).string(in: source)
            case Array("use".utf8): use = try value.text("use", place).string(in: source)
            case Array("k".utf8): secret = try value.text("k", place)
            case Array("key_ops".utf8):
                operations = try Self.texts(value, from: &reader, in: source, place: place)
            case Array("keys".utf8) where canBeSet:
                elements = try Self.elements(value, from: &reader, in: source, place: place)
            default: try Self.skip(value, from: &reader, in: source)
            }
        }
    }

    private static func texts(
        _ first: JSONToken, from reader: inout JSONReader, in source: Span<UInt8>, place: String
    ) throws(VaultError) -> [String] {
        guard first == .beginArray else { throw .wrongKind("key_ops", "an array of strings", place) }
        var texts: [String] = []
        while case let token = try reader.next(in: source), token != .endArray {
            texts.append(try token.text("key_ops", place).string(in: source))
        }
        return texts
    }

    private static func elements(
        _ first: JSONToken, from reader: inout JSONReader, in source: Span<UInt8>, place: String
    ) throws(VaultError) -> [JWKMembers] {
        guard first == .beginArray else { throw .wrongKind("keys", "an array of JWKs", place) }
        var elements: [JWKMembers] = []
        while case let token = try reader.next(in: source), token != .endArray {
            guard token == .beginObject else { throw .wrongKind("keys", "an array of JWKs", place) }
            elements.append(try JWKMembers(from: &reader, in: source, place: place, canBeSet: false))
        }
        return elements
    }

    /// Skips one value of any kind. The reader's depth limit bounds the nesting.
    private static func skip(
        _ first: JSONToken, from reader: inout JSONReader, in source: Span<UInt8>
    ) throws(VaultError) {
        var depth = 0
        var token = first
        while true {
            switch token {
            case .beginObject, .beginArray: depth += 1
            case .endObject, .endArray: depth -= 1
            default: break
            }
            if depth == 0 { return }
            token = try reader.next(in: source)
        }
    }
}

extension JSONToken {
    fileprivate func text(_ member: String, _ place: String) throws(VaultError) -> JSONText {
        guard case .string(let text) = self else { throw .wrongKind(member, "a string", place) }
        return text
    }
}

extension VaultError {
    fileprivate static func wrongKind(_ member: String, _ wanted: String, _ place: String) -> VaultError {
        VaultError(
            .corrupt, "\"\(member)\" is not \(wanted)", at: place, remedy: "correct the JWK (RFC 7517)")
    }
}
