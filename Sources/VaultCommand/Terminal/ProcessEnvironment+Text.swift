import VaultFileSystem

extension ProcessEnvironment {
    /// A variable that is not secret; nil where it is not set, or empty.
    static func text(of name: String) -> String? {
        let text = withValue(of: name) { bytes in
            var text: [UInt8] = []
            for index in bytes.indices { text.append(bytes[index]) }
            return String(decoding: text, as: UTF8.self)
        }
        return text?.isEmpty == false ? text : nil
    }
}
