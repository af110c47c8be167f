/// An address as an external tool takes it, and as messages and reports show it: an address may hold secrets.
///
/// rclone takes options in front of the path (its "connection strings"), such as `:s3,secret_access_key=…:bucket/game`; a value may be
/// quoted by `'` or `"`, and then hold colons. An rsync URL may hold a password before the host.
struct DestinationAddress: Sendable {
    /// As it was written.
    let text: String
    /// Without the options and without a password.
    let shown: String

    /// Whether no message may repeat what the tool prints, since it may quote the address in any way.
    var isSecret: Bool { text != shown }

    init(rclone text: String) {
        self.text = text
        // A backend's name begins with a colon.
        var index = text.hasPrefix(":") ? text.index(after: text.startIndex) : text.startIndex
        var options: String.Index?
        var quote: Character?
        while index < text.endIndex, quote != nil || text[index] != ":" {
            switch text[index] {
            case "'" where quote == nil, "\"" where quote == nil: quote = text[index]
            case quote: quote = nil
            case "," where quote == nil: options = options ?? index
            default: break
            }
            index = text.index(after: index)
        }
        let path = text[index...]
        if let options {
            // A URL as a value without quotes reaches into what follows.
            shown = "\(text[..<options]),…" + (path.contains("@") || path.contains("//") ? "" : path)
        } else if let at = path.prefix(while: { $0 != "/" }).lastIndex(of: "@") {
            // Such as `user:password@host:/folder`, which is no remote.
            shown = "\(text[..<index]):…\(text[at...])"
        } else {
            shown = text
        }
    }

    init(rsync text: String) {
        self.text = text
        let authority = text.firstRange(of: "//").map { text[$0.upperBound...].prefix { $0 != "/" } } ?? ""
        if let at = authority.lastIndex(of: "@"), let colon = authority[..<at].firstIndex(of: ":") {
            shown = "\(text[...colon])…\(text[at...])"
        } else {
            shown = text
        }
    }
}
