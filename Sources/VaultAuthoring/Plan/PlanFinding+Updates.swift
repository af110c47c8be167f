import VaultErrors

extension PlanFinding {
    /// Empty where all costs were computed.
    ///
    /// - Parameter count: ``PublicationReport/uncountedUpdates``.
    public static func uncounted(_ count: Int) -> [PlanFinding] {
        guard count > 0 else { return [] }
        return [
            PlanFinding(
                severity: .warning,
                problem:
                    "\(count.counting("more pack")) changed, whose updates are counted as nothing",
                remedy: "publish in parts, to see what each costs")
        ]
    }
}
