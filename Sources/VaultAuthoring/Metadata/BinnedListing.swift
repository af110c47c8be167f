import UpdateFramework
import VaultSite

/// A list of packs divided into bins by the hash of their paths: the role `packs` delegates each path to one of
/// `packs-00`, `packs-01`, … A client reads only the bins that it needs, and again only those that changed.
struct BinnedListing {
    let bins: HashBins
    private let role: MetadataRole

    /// Nil for no bins.
    ///
    /// - Parameter trust: the keys of the bins.
    init?(bits: Int, trust: RoleTrust) {
        guard let role = MetadataRole(delegated: OwnBins.name),
            let bins = HashBins(bitLength: bits, namePrefix: OwnBins.name, trust: trust)
        else { return nil }
        self.bins = bins
        self.role = role
    }

    /// Delegates every path by the first digit of its hash. (Delegation by bins alone would exclude other roles.)
    var delegation: Delegation {
        Delegation(to: role, of: .hashPrefixes((0..<16).map { String($0, radix: 16) }), trust: bins.trust)
    }

    func listings(of records: [TargetRecord]) -> [SiteRenewal.Listing] {
        var contents: [[TargetRecord]] = Array(repeating: [], count: bins.count)
        for record in records { contents[bins.index(of: record.path)].append(record) }
        let trusts = [bins.trust]
        let parent = SiteRenewal.Listing(role: role, records: [], delegations: .bins(bins), trusts: trusts)
        return [parent]
            + contents.enumerated().compactMap { index, records in
                bins.role(at: index).map {
                    SiteRenewal.Listing(role: $0, records: records, delegations: nil, trusts: trusts)
                }
            }
    }
}
