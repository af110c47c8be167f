import UpdateFramework

extension [TargetRecord] {
    /// Whether both list the same, in any order.
    func hasSameContent(as other: [TargetRecord]) -> Bool {
        let old = Dictionary(map { ([UInt8]($0.path.utf8), $0) }) { $1 }
        return old.count == other.count && other.allSatisfy { old[[UInt8]($0.path.utf8)] == $0 }
    }
}
