import ArgumentParser
import Glibc
import Synchronization
import SystemPackage
import VaultBase

/// How a command shows its progress on standard error.
enum ProgressForm: String, CaseIterable, ExpressibleByArgument { case auto, bar, none, json }

struct ProgressOption: ParsableArguments {
    @Option(
        name: .customLong("progress"),
        help: ArgumentHelp(
            """
            Show progress on standard error as a bar, as JSON lines, or not at all; auto shows a bar on a \
            terminal.
            """,
            valueName: "form"))
    var form = ProgressForm.auto
}

/// A command that takes time, and shows its progress.
protocol LongCommand: AsyncParsableCommand {
    var progress: ProgressOption { get }
}

/// What is being done, and to which packs.
struct Activity {
    /// Such as "sealing".
    let name: String
    /// The one pack, or file of a pack, that it is about.
    var pack: String?
    /// The number of packs, if it is about several.
    var packCount: Int?

    /// For people.
    var label: String {
        if let packCount { return "\(name) \(packCount) packs" }
        return pack.map { "\(name) \($0)" } ?? name
    }
}

/// The progress of this run in the form that its command line asks for. With `json` all of standard error is JSON: one object a
/// line, so that a launcher reads progress, notes and the outcome from one stream.
enum ProgressOutput {
    private struct State {
        var form = ProgressForm.auto
        /// When the next line of progress may follow: at most ten are written a second.
        var next = ContinuousClock.now
        /// Of the whole run, as far as it is known; never less than before.
        var fraction: Double?
    }

    private static let state = Mutex(State())

    static func use(_ form: ProgressForm) { state.withLock { $0.form = form } }

    static var isJSON: Bool { state.withLock { $0.form == .json } }

    static var isBar: Bool {
        switch state.withLock({ $0.form }) {
        case .auto: isatty(STDERR_FILENO) == 1
        case .bar: true
        case .none, .json: false
        }
    }

    /// Writes a line of progress, unless one was just written.
    ///
    /// - Parameter fraction: of the whole run; nil if it is not known.
    static func show(_ activity: Activity, _ measure: ByteProgress, fraction: Double?) {
        state.withLock { state in
            guard state.form == .json else { return }
            // 1 is the end, which only the last line reports.
            if let fraction { state.fraction = max(state.fraction ?? 0, min(fraction, 0.9999)) }
            guard ContinuousClock.now >= state.next else { return }
            state.next = .now + .milliseconds(100)
            var line: JSONObject = ["activity": .string(activity.name)]
            line["pack"] = activity.pack.map { .string($0) }
            line["packs"] = activity.packCount.map { .number($0) }
            line["bytes"] = .number(measure.done)
            if measure.total > 0 { line["total"] = .number(measure.total) }
            write(line, fraction: state.fraction)
        }
    }

    /// Writes a line for people as an object. Returns false in any other form.
    static func note(_ text: String) -> Bool {
        state.withLock { state in
            guard state.form == .json else { return false }
            write(["note": .string(text)])
            return true
        }
    }

    /// Writes the last line: the outcome. Returns false in any other form.
    ///
    /// - Parameter error: nil for success.
    @discardableResult
    static func end(_ error: VaultError? = nil) -> Bool {
        state.withLock { state in
            guard state.form == .json else { return false }
            guard let error else {
                write(["outcome": "done"], fraction: 1)
                return true
            }
            write(
                [
                    "outcome": "failed", "category": .string(error.category.rawValue),
                    "error": .string("\(error.worded)"),
                ], fraction: state.fraction)
            return true
        }
    }

    /// Each line is one write, so that it is never held back, or mixed with another one.
    private static func write(_ line: JSONObject, fraction: Double? = nil) {
        var text = JSONValue.object(line).compactText
        // The project's JSON has integers only, since it is signed.
        if let fraction {
            text = "\(text.dropLast()),\"fraction\":\((fraction * 10_000).rounded(.down) / 10_000)}"
        }
        _ = try? FileDescriptor.standardError.writeAll("\(text)\n".utf8)
    }
}
