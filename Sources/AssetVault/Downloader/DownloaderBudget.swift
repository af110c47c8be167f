/// Limits of a downloader's run.
public struct DownloaderBudget: Sendable {
    /// How long it may run; nil for no limit. Partial downloads stay for the next run.
    public var time: Duration?
    /// Bytes of memory that the process may take; nil sets no limit. It decides how many packs are downloaded at a time:
    /// one at least.
    public var memory: UInt64?

    public init(time: Duration? = nil, memory: UInt64? = nil) {
        self.time = time
        self.memory = memory
    }

    /// Of the process without any pack, nearly all of it code.
    private static let baseMemory: UInt64 = 31 << 20
    private static let memoryPerPack: UInt64 = 1 << 20

    func packsAtOnce(upTo limit: Int) -> Int {
        guard let memory else { return limit }
        guard memory > Self.baseMemory else { return 1 }
        return max(1, min(limit, Int(clamping: (memory - Self.baseMemory) / Self.memoryPerPack)))
    }
}
