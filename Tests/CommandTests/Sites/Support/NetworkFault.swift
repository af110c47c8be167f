import FaultServer

/// A fault of a host or network during a pack request.
struct NetworkFault: Sendable {
    let name: String
    /// Exit codes of a fetch that meets the fault once; 0 is success.
    let once: Set<Int32>
    /// Exit codes of a fetch that meets it at every request.
    let always: Set<Int32>
    /// Affects range requests only; others are interrupted, so that a range is requested next.
    var isOfParts = false
    /// The host has a certificate of the test's authority.
    var isSecure = false
    /// Additional options of `fetch`.
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

    /// A fault that changes a correct answer.
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

/// The requested pack, another one, and a correct host.
struct PackOnSite: Sendable {
    let size: Int
    let other: [UInt8]
    let mirror: String
}
