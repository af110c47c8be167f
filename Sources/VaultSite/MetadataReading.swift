public import UpdateFramework
public import VaultBase

extension MetadataFolder {
    /// One version of a role's file, its signatures not verified; nil when it is missing.
    public func metadata(in file: MetadataFileName) throws(VaultError) -> UnverifiedMetadata? {
        guard let role = file.role,
            let bytes = try metadata(named: file.hostedName, limit: role.sizeLimit)
        else { return nil }
        return try UnverifiedMetadata(parsing: bytes, as: role, place: file.hostedName)
    }

    /// The same; nil also where it is not metadata. An I/O error is thrown: a file that can't be read now may be sound.
    public func parsableMetadata(in file: MetadataFileName) throws(VaultError) -> UnverifiedMetadata? {
        try optional(metadata(in: file), ignoring: .untrusted, .corrupt)
    }
}

extension MetadataDocument {
    /// The files that a snapshot lists; empty for other roles.
    public var listedFiles: [MetadataFileName] {
        guard role == .snapshot, case .object(let meta)? = signed["meta"] else { return [] }
        return meta.compactMap { name, json in
            guard case .object(let json) = json, case .integer(let version)? = json["version"] else {
                return nil
            }
            return MetadataFileName(hostedName: "\(version).\(name)")
        }
    }
}

extension UnverifiedMetadata {
    /// The targets that it lists, one for each version of a pack; empty unless it is of a targets role.
    public var records: [TargetRecord] {
        get throws(VaultError) {
            let targets = try document.signed.optionalObject("targets", at: document.hostedName)
            var records: [TargetRecord] = []
            for (path, value) in targets ?? [:] {
                guard case .object(let json) = value else { continue }
                records += try TargetRecord(path: path, json: json).eachVersion
            }
            return records
        }
    }
}
