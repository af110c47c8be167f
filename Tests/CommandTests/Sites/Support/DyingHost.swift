import FaultServer

/// A host that sends the tail of a pack and some of its pieces, then nothing. It hangs up when these have been taken: what is on
/// its way then is lost with the connection, as much as the system's buffers hold.
enum DyingHost {
    static func answer(_ request: FaultServer.Request, cutAfter count: Int) -> FaultServer.Answer {
        guard request.isForPack else { return .file }
        return switch request.earlier {
        case 0: .file
        case 1:
            .changed { reply in
                reply.body = Array(reply.body.prefix(count))
                reply.ending = [.pause(.seconds(2)), .close]
            }
        default: .hangUp
        }
    }
}
