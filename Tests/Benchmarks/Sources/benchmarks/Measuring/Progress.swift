import Glibc

/// Progress messages.
enum Progress {
    static func note(_ text: String) {
        let line = Array("\(text)\n".utf8)
        _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Prints at once: cleaning up takes a while.
    static func answer(_ text: String) {
        print(text)
        fflush(nil)
    }
}
