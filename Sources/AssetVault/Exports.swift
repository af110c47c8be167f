// What the client's interface speaks of: one import is enough for an app.
@_exported public import SealedPack
@_exported public import SystemPackage
@_exported public import UpdateFramework
@_exported public import VaultArchive
@_exported public import VaultCrypto
@_exported public import VaultErrors
@_exported public import VaultKeys
@_exported public import VaultTransport
