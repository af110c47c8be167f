import Dispatch
import Glibc

/// A terminal in raw mode. It is restored at the end, also after signals that can be caught.
@MainActor final class Terminal {
    private let saved: termios
    private var signals: [any DispatchSourceSignal] = []

    /// Nil where nobody can play, such as in a pipe.
    init?() {
        var state = termios()
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1,
            unsafe tcgetattr(STDIN_FILENO, &state) == 0
        else { return nil }
        saved = state
        // Ctrl-C arrives as a key, too, so that the game ends normally.
        state.c_lflag &= ~UInt32(ICANON | ECHO | ISIG)
        state.c_iflag &= ~UInt32(IXON | ICRNL)
        guard unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &state) == 0 else { return nil }
        Console.write("\u{1B}[?1049h\u{1B}[?25l")
        for number in [SIGTERM, SIGHUP] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            source.setEventHandler { [weak self] in
                MainActor.assumeIsolated { self?.restore() }
                exit(128 + number)
            }
            source.activate()
            signals.append(source)
        }
    }

    func restore() {
        Console.write("\u{1B}[?25h\u{1B}[?1049l")
        var state = saved
        _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &state)
    }

    /// Columns and lines.
    var size: (columns: Int, lines: Int) {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Draws lines from the top, over the former ones, without flicker.
    func show(_ lines: [String]) {
        Console.write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
    }
}
