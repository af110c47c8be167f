import Glibc
import Synchronization

/// A point at which a test kills the process: `ASSETVAULT_FAIL_POINT=NAME`, or `NAME:3` for the third time that it is reached. Only
/// debug builds have them.
public enum FailPoint {
    #if DEBUG
        private static let wanted: (name: String, time: Int)? = {
            guard let text = ProcessEnvironment.text(of: "ASSETVAULT_FAIL_POINT") else { return nil }
            let parts = text.split(separator: ":", maxSplits: 1)
            guard let name = parts.first else { return nil }
            return (String(name), parts.count > 1 ? Int(parts[1]) ?? 1 : 1)
        }()
        private static let reached = Mutex(0)
    #endif

    public static func reach(_ name: String) {
        #if DEBUG
            guard let wanted, wanted.name == name else { return }
            let times = reached.withLock { count in
                count += 1
                return count
            }
            if times == wanted.time { kill(getpid(), SIGKILL) }
        #endif
    }
}
