import FoundationEssentials

/// The machine of the measurements.
struct Machine: Codable, Sendable {
    let cores: Int
    let processor: String
    let kernel: String
    let memory: Int
    /// The load of the last minute before the first round: 0 on an idle machine.
    let load: String

    init() {
        cores = ProcessInfo.processInfo.activeProcessorCount
        processor = Self.value(of: "model name", in: "/proc/cpuinfo")
        kernel = Self.words(of: "/proc/sys/kernel/osrelease").first ?? "unknown"
        memory = Int(ProcessInfo.processInfo.physicalMemory)
        load = Self.words(of: "/proc/loadavg").first ?? "unknown"
    }

    /// The least peak memory that can be measured: the kernel counts a new process's share of its parent, which is
    /// this program.
    static var memoryFloor: Int {
        let words = value(of: "VmHWM", in: "/proc/self/status").split(separator: " ")
        return (words.first.flatMap { Int($0) } ?? 0) * 1024
    }

    private static func value(of name: String, in path: String) -> String {
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(separator: ":").last.map {
            $0.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
            ?? "unknown"
    }

    private static func words(of path: String) -> [String] {
        ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(whereSeparator: \.isWhitespace)
            .map(
                String.init)
    }
}
