import FoundationEssentials

/// The signed metadata of one pack.
struct SignedTarget: Sendable {
    let length: Int
    /// Bytes of its index and catalog.
    let listing: Int

    init(ofFile file: String, path: String) throws {
        let metadata = try JSONDecoder().decode(Metadata.self, from: Data(contentsOf: URL(filePath: file)))
        guard let target = metadata.signed.targets[path] else { throw Failure("no \(path) in \(file)") }
        let pack = target.custom.assetvault
        length = target.length
        listing = pack.index.length + pack.catalog.length
    }

    private struct Metadata: Decodable {
        struct Signed: Decodable { let targets: [String: Target] }
        struct Target: Decodable {
            let length: Int
            let custom: Custom
        }
        struct Custom: Decodable { let assetvault: Pack }
        struct Pack: Decodable {
            let index: Part
            let catalog: Part
        }
        struct Part: Decodable { let length: Int }
        let signed: Signed
    }
}
