import FaultServer

/// One way in which hosts and networks go wrong while a pack is asked for.
struct NetworkFault: Sendable {
    let name: String
    /// What a fetch may end with that meets the fault once, and no more; 0 is success.
    let once: Set<Int32>
    /// What a fetch may end with that meets it at every request.
    let always: Set<Int32>
    /// Meets requests for a part only; others are cut off in the middle, so that a part is asked for next.
    var isOfParts = false
    /// The host has a certificate of the test's authority.
    var isSecure = false
    /// What `fetch` is told beside the usual.
    var arguments: [String] = []
    let answer: @Sendable (FaultServer.Request, PackOnSite) -> FaultServer.Answer

    init(
        _ name: String, once: Set<Int32> = [0], always: Set<Int32>, isOfParts: Bool = false,
        isSecure: Bool = false, arguments: [String] = [],
        answer: @escaping @Sendable (FaultServer.Request, PackOnSite) -> FaultServer.Answer
    ) {
        (self.name, self.once, self.always, self.answer) = (name, once, always, answer)
        (self.isOfParts, self.isSecure, self.arguments) = (isOfParts, isSecure, arguments)
    }

    /// A fault that spoils what a proper host answers.
    static func changing(
        _ name: String, once: Set<Int32> = [0], always: Set<Int32>, isOfParts: Bool = false,
        _ change: @escaping @Sendable (inout FaultServer.Reply) -> Void
    ) -> NetworkFault {
        NetworkFault(name, once: once, always: always, isOfParts: isOfParts) { _, _ in .changed(change) }
    }

    /// A fault of a host that sends this and closes the connection.
    static func sending(_ name: String, always: Set<Int32>, _ steps: Step...) -> NetworkFault {
        NetworkFault(name, always: always) { _, _ in .steps(steps + [.close]) }
    }

    static func status(
        _ status: Int, once: Set<Int32> = [0], always: Set<Int32> = [69], _ name: String = "",
        headers: @escaping @Sendable () -> [String: String] = { [:] }
    ) -> NetworkFault {
        NetworkFault("status \(status) \(name)", once: once, always: always) { _, _ in
            .changed { reply in
                reply = FaultServer.Reply(status: status, body: [])
                reply.headers.merge(headers()) { $1 }
            }
        }
    }

    static func redirect(
        _ name: String, once: Set<Int32> = [0], always: Set<Int32> = [69], isSecure: Bool = false,
        arguments: [String] = [], to target: @escaping @Sendable (FaultServer.Request, PackOnSite) -> String?
    ) -> NetworkFault {
        NetworkFault(name, once: once, always: always, isSecure: isSecure, arguments: arguments) {
            request, pack in
            .changed { reply in
                reply = FaultServer.Reply(status: 302, body: [])
                reply.headers["Location"] = target(request, pack)
            }
        }
    }
}

/// The pack that is asked for, another one, and a host that does no wrong.
struct PackOnSite: Sendable {
    let size: Int
    let other: [UInt8]
    let mirror: String
}
