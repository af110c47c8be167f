/// A tar archive built by the tests, which can contain invalid entries (POSIX.1-2001, pax).
struct HandmadeTar {
    private(set) var bytes: [UInt8] = []

    static let end = [UInt8](repeating: 0, count: 1024)

    var finished: [UInt8] { bytes + Self.end }

    /// - Parameter type: The type flag: "0" file, "1" hard link, "2" symbolic link, "5" folder, "6" FIFO.
    mutating func add(
        _ name: [UInt8], type: Character = "0", _ content: [UInt8] = [], mode: Int = 0o644, link: String = "",
        size: Int? = nil
    ) {
        if name.count > 100 { addAttributes([("path", name)]) }
        addHeader(Array(name.prefix(100)), type, size ?? content.count, mode, link)
        addContent(content)
    }

    mutating func add(
        _ name: String, type: Character = "0", _ content: [UInt8] = [], mode: Int = 0o644, link: String = ""
    ) {
        add(Array(name.utf8), type: type, content, mode: mode, link: link)
    }

    /// A pax header for the next entry.
    mutating func addAttributes(_ attributes: [(key: String, value: [UInt8])]) {
        let records = attributes.flatMap { Self.record($0.key, $0.value) }
        addHeader(Array("pax".utf8), "x", records.count, 0o644, "")
        addContent(records)
    }

    mutating func addAttributes(_ attributes: [(key: String, value: String)]) {
        addAttributes(attributes.map { ($0.key, Array($0.value.utf8)) })
    }

    /// "LENGTH KEY=VALUE\n", where LENGTH counts itself.
    private static func record(_ key: String, _ value: [UInt8]) -> [UInt8] {
        let rest = Array(" \(key)=".utf8) + value + Array("\n".utf8)
        var count = rest.count
        while "\(count)".utf8.count + rest.count != count { count = "\(count)".utf8.count + rest.count }
        return Array("\(count)".utf8) + rest
    }

    private mutating func addHeader(
        _ name: [UInt8], _ type: Character, _ size: Int, _ mode: Int, _ link: String
    ) {
        var header = [UInt8](repeating: 0, count: 512)
        func put(_ text: [UInt8], at start: Int) {
            header.replaceSubrange(start..<start + text.count, with: text)
        }
        func octal(_ value: Int, _ digits: Int) -> [UInt8] {
            let text = String(value, radix: 8)
            return Array((String(repeating: "0", count: digits - text.count) + text).utf8)
        }
        put(name, at: 0)
        put(octal(mode, 7), at: 100)
        put(octal(0, 7), at: 108)
        put(octal(0, 7), at: 116)
        put(octal(size, 11), at: 124)
        put(octal(0, 11), at: 136)
        put(Array("        ".utf8), at: 148)
        put(Array(String(type).utf8), at: 156)
        put(Array(link.utf8), at: 157)
        put(Array("ustar\u{0}00".utf8), at: 257)
        put(octal(header.reduce(0) { $0 + Int($1) }, 6) + [0], at: 148)
        bytes += header
    }

    private mutating func addContent(_ content: [UInt8]) {
        bytes += content
        bytes += [UInt8](repeating: 0, count: (512 - content.count % 512) % 512)
    }
}
