import SealedPack
import VaultErrors
import VaultTransport

/// Requests of a download, and whether the responses match them.
extension PackDownload {
    mutating func transfer(
        _ wanted: Range<UInt64>, into assembly: inout PackAssembly, progress: (UInt64) -> Void
    ) async throws(TransferFailure) {
        let answer = try await ask(for: wanted, of: assembly)
        try await take(answer, for: wanted, into: &assembly, progress: progress)
    }

    /// The body of the response, and the bytes of the pack that it holds.
    mutating func ask(
        for wanted: Range<UInt64>, of assembly: borrowing PackAssembly
    ) async throws(TransferFailure) -> RemoteFile.Content {
        let isForAll = assembly.isEmpty && assembly.comesAtOnce(besidesOthers: !held.isEmpty)
        let part = sources.takesRanges && !isForAll ? wanted : nil
        let remote = RemoteFile(
            sources.location, of: pack.id.description, length: pack.length, transport: transport,
            remedy: "try another mirror or tell the publisher")
        let content = try await remote.open(part, meter: sources.meter)
        if part != nil, content.range == 0..<pack.length { sources.takesRanges = false }
        return content
    }
}
