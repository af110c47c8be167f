import VaultBase

/// The members of one JWK, without any validation. The secret stays in the source, only its range is stored. Of other
/// members only the names matter, as RFC 7517, section 4 requires.
struct JWKMembers {
    var type: String?
    var id: String?
    var algorithm: String?
    var use: String?
    var operations: [String]?
    var secret: JSONText?
    /// The elements of `keys`, which make the object a JWK Set (RFC 7517, section 5).
    var elements: [JWKMembers]?
    /// Whether the object has the member of a JWE (RFC 7516, section 7.2).
    var hasCiphertext = false
    /// The names of other members.
    var others: [String] = []

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
            case Array("ciphertext".utf8):
                hasCiphertext = true
                try Self.skip(value, from: &reader, in: source)
            default:
                others.append(name)
                try Self.skip(value, from: &reader, in: source)
            }
        }
    }

    /// The members of a text; nil for a text that does not begin with a JSON object.
    init?(ifIn text: borrowing SecretBytes, place: String) {
        let members = text.withBytes { text in
            var reader = JSONReader(place: place)
            guard case .beginObject? = try? reader.next(in: text) else { return JWKMembers?.none }
            return try? JWKMembers(from: &reader, in: text, place: place, canBeSet: true)
        }
        guard let members else { return nil }
        self = members
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

/// The rules for JWKs of vault and content keys (RFC 7517, section 4; RFC 7518, section 6.4).
extension JWKMembers {
    enum Purpose {
        /// Wraps content keys.
        case wrapping
        /// Is a content key.
        case content
    }

    var quotedOthers: [String] { others.map { "\"\($0.excerpt)\"" } }

    var isSymmetric: Bool { type?.utf8.elementsEqual("oct".utf8) == true }

    /// The key's purpose, stated by `alg`: no key has both.
    func purpose(place: String) throws(VaultError) -> Purpose {
        if let use, !use.utf8.elementsEqual("enc".utf8) {
            throw unfit("\"use\" is not \"enc\"", place)
        }
        if let operations, Set(operations.map { Array($0.utf8) }).count != operations.count {
            throw unfit("an operation occurs twice in \"key_ops\"", place)
        }
        switch algorithm.map({ Array($0.utf8) }) {
        case Array("A256KW".utf8):
            guard operations == nil || allows("wrapKey") && allows("unwrapKey") else {
                throw unfit("\"key_ops\" allows not both wrapKey and unwrapKey", place)
            }
            return .wrapping
        case Array(InjectedContentKey.algorithm.utf8):
            guard operations?.count == 1, allows("deriveKey") else {
                throw unfit("\"key_ops\" of a content key is not [\"deriveKey\"]", place)
            }
            return .content
        case nil:
            throw unfit("\"alg\" is missing", place)
        default:
            throw unfit("\"alg\" is neither \"A256KW\" nor \"\(InjectedContentKey.algorithm)\"", place)
        }
    }

    private func allows(_ operation: String) -> Bool {
        operations?.contains { $0.utf8.elementsEqual(operation.utf8) } == true
    }

    /// The key, decoded from the source; its text never becomes a `String`.
    func secret(in source: Span<UInt8>, place: String) throws(VaultError) -> SecretBytes {
        guard isSymmetric else { throw unfit("\"kty\" is not \"oct\"", place) }
        guard let secret else { throw unfit("\"k\" is missing", place) }
        let text = source.extracting(secret.range)
        let decoded = try SecretBytes(capacity: VaultKey.byteCount) { (buffer) throws(VaultError) in
            guard text.count == Base64URL.encodedLength(of: VaultKey.byteCount),
                let count = Base64URL.decode(text, into: &buffer)
            else {
                throw unfit("\"k\" is not 32 bytes in base64url without padding (43 characters)", place)
            }
            return count
        }
        return decoded
    }

    /// The JWK thumbprint (RFC 7638): SHA-256 of the required members, sorted, in base64url.
    ///
    /// The hash of a random 256-bit key reveals nothing of the key. Call it after `secret`.
    func thumbprint(in source: Span<UInt8>) -> String {
        guard let secret else { return "" }
        var hash = SHA256()
        hash.update(Array("{\"k\":\"".utf8).span)
        hash.update(source.extracting(secret.range))
        hash.update(Array("\",\"kty\":\"oct\"}".utf8).span)
        return Base64URL.encode(hash.finalize().bytes.span)
    }

    private func unfit(_ problem: String, _ place: String) -> VaultError {
        VaultError(
            .key, problem, at: place,
            remedy: "give a JWK with \"kty\":\"oct\" and \"alg\":\"A256KW\"", hint: .makingVaultKey)
    }
}
