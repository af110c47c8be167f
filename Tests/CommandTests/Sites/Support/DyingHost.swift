import FaultServer

extension FaultServer {
    /// A host that sends the tail of a pack and some of its pieces, then nothing. It hangs up when these have been taken: what is on
    /// its way then is lost with the connection, as much as the system's buffers hold.
    static func dying(_ site: String, after count: Int) throws -> FaultServer {
        try FaultServer(site) { request in
            guard request.isForPack, request.earlier > 0 else { return .file }
            guard request.earlier == 1 else { return .hangUp }
            return .changed { reply in
                reply.body = Array(reply.body.prefix(count))
                reply.ending = [.pause(.seconds(2)), .close]
            }
        }
    }
}
