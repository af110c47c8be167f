import AssetVault
import Foundation

// What the examples of the documents presume. It is only compiled.

private func presumed<Value>() -> Value { fatalError("presumed") }

let vault: Vault = presumed()
var client: VaultClient { presumed() }
var request: ResourceRequest { presumed() }
var site: SiteLocation { presumed() }
var store: StoreLayout { presumed() }
var root: [UInt8] { presumed() }
var keys: any KeyProvider { presumed() }
var level: PackID { presumed() }
var secret: PackID { presumed() }
var bar: Bar { presumed() }

final class Bar: Sendable {
    var fraction: Double {
        get { presumed() }
        set {}
    }
    func show(_ bytes: UInt64, of total: UInt64) {}
    func show(_ fraction: Double) {}
    func show(_ progress: Progress) async {}
}

struct Shop: Sendable {
    func key(named name: String) async -> [UInt8]? { nil }
}

struct Session: Sendable {
    func token() async -> SecretBytes { SecretBytes(copying: Span()) }
}
let session = Session()
func platformKey() -> SecretBytes { SecretBytes(copying: Span()) }

func load(fileDescriptor: Int32) throws {}
func offerToBuy(_ pack: PackID) {}
func tryLater() {}
func askToTryAgain(_ errors: [VaultError]) {}
func askForRoom(_ error: VaultError) {}
func show(_ error: VaultError) {}
