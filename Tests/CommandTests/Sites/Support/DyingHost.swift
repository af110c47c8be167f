import FaultServer

/// A host that sends the tail of a pack and some of its pieces, then nothing.
enum DyingHost {
    static func answer(_ request: FaultServer.Request, cutAfter count: Int) -> FaultServer.Answer {
        guard request.isForPack else { return .file }
        return switch request.earlier {
        case 0: .file
        case 1: .cut(after: count)
        default: .hangUp
        }
    }
}
