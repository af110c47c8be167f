/// An http or https URL in a strict form that all parsers read alike (RFC 3986, ASCII only).
///
/// User information is refused: it is never sent, and would appear in messages.
package struct HTTPURL: Hashable, Sendable {
    package let isSecure: Bool
    /// A lowercase name or address; IPv6 addresses have brackets.
    package let host: String
    /// Nil for the scheme's default port.
    package let port: UInt16?
    /// Empty or begins with a slash; percent-encoding is unchanged.
    package let path: String
    package let query: String?

    /// Nil for anything but a plain http or https URL; a fragment is dropped.
    package init?(_ text: String) {
        guard text.utf8.count <= 8192, let schemeEnd = text.firstRange(of: "://") else { return nil }
        switch text[..<schemeEnd.lowerBound].lowercased() {
        case "http": isSecure = false
        case "https": isSecure = true
        default: return nil
        }
        var rest = text[schemeEnd.upperBound...]
        rest = rest.prefix { $0 != "#" }
        guard rest.utf8.allSatisfy(Self.isURLCharacter) else { return nil }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard let (host, port) = Self.hostAndPort(authority) else { return nil }
        self.host = host
        self.port = port
        rest = rest[authority.endIndex...]
        path = String(rest.prefix { $0 != "?" })
        query = rest.firstIndex(of: "?").map { String(rest[rest.index(after: $0)...]) }
    }

    private init(_ base: HTTPURL, path: String) {
        (isSecure, host, port, query) = (base.isSecure, base.host, base.port, nil)
        self.path = path
    }

    func replacingPath(_ path: String) -> HTTPURL { HTTPURL(self, path: path) }

    /// The whole URL.
    package var text: String {
        "\(isSecure ? "https" : "http")://\(authority)\(path)" + (query.map { "?\($0)" } ?? "")
    }

    /// The host, with the port if there is one.
    package var authority: String { host + (port.map { ":\($0)" } ?? "") }

    /// Whether the host is a reserved name or address of this machine (RFC 6761, section 6.3; RFC 5735; RFC 4291).
    var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        return octets.count == 4 && octets[0] == "127" && octets.allSatisfy { UInt8($0) != nil }
    }

    private static func hostAndPort(_ authority: Substring) -> (String, UInt16?)? {
        var host = authority
        var port: UInt16?
        let afterAddress = authority.lastIndex(of: "]") ?? authority.startIndex
        if let colon = authority[afterAddress...].lastIndex(of: ":") {
            let digits = authority[authority.index(after: colon)...]
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(digits),
                number > 0
            else { return nil }
            port = number
            host = authority[..<colon]
        }
        let isAddress = host.hasPrefix("[") && host.hasSuffix("]")
        let name = isAddress ? host.dropFirst().dropLast() : host
        guard !name.isEmpty, name.utf8.allSatisfy({ isAddress ? isAddressByte($0) : isNameByte($0) })
        else { return nil }
        return (host.lowercased(), port)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true  // digits, letters, - . _
        default: false
        }
    }

    private static func isAddressByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3A, 0x41...0x46, 0x61...0x66, 0x2E: true  // hexadecimal digits, colon, dot
        default: false
        }
    }

    /// RFC 3986, section 2: reserved, unreserved and the percent sign.
    private static func isURLCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x22, 0x3C, 0x3E, 0x5C, 0x5E, 0x60, 0x7B...0x7D: false  // " < > \ ^ ` { | }
        default: (0x21...0x7E).contains(byte)
        }
    }
}
