import Glibc

/// What goes on, for whoever waits.
enum Progress {
    static func note(_ text: String) {
        let line = Array("\(text)\n".utf8)
        _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
