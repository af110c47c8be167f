package import VaultErrors

/// Limits of a downloader's run.
public struct DownloaderBudget: Sendable {
    /// How long it may run; nil for no limit. Partial downloads stay for the next run.
    public var time: Duration?
    /// Bytes of memory that the process may take, ``leastMemory`` or more; nil sets no limit. It decides how many packs are
    /// downloaded at a time.
    public var memory: UInt64?

    public init(time: Duration? = nil, memory: UInt64? = nil) {
        self.time = time
        self.memory = memory
    }

    /// Of the process without any pack, nearly all of it code.
    private static let baseMemory: UInt64 = 31 << 20
    private static let memoryPerPack: UInt64 = 1 << 20
    /// What a run takes that downloads one pack at a time, in bytes: 32 MiB.
    public static let leastMemory = baseMemory + memoryPerPack

    /// Throws `.usage` for less memory than a run takes.
    package func validate() throws(VaultError) {
        guard let memory, memory < Self.leastMemory else { return }
        throw VaultError(
            .usage, "a downloader takes \(Self.leastMemory) bytes of memory, and \(memory) are allowed",
            at: "memory", remedy: "allow \(Self.leastMemory >> 20) MiB or more")
    }

    func packsAtOnce(upTo limit: Int) -> Int {
        guard let memory else { return limit }
        let count = (max(memory, Self.leastMemory) - Self.baseMemory) / Self.memoryPerPack
        return min(limit, Int(clamping: count))
    }
}
