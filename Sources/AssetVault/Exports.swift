// What the client's interface speaks of, and no more: one import is enough for an app. Of modules that also seal, sign and
// open, only the types of that interface.
@_exported public import SystemPackage
@_exported public import VaultBase
@_exported public import VaultCrypto
@_exported public import VaultTransport

@_exported public import struct SealedPack.AppVersion
@_exported public import struct SealedPack.AppVersionRange
@_exported public import struct SealedPack.ContentKeyID
@_exported public import struct SealedPack.EntryPath
@_exported public import struct SealedPack.KeySlot
@_exported public import struct SealedPack.PackID
@_exported public import struct SealedPack.PackManifest
@_exported public import struct SealedPack.PackOffer
@_exported public import enum SealedPack.PackPolicy
@_exported public import enum SealedPack.TraitMatching
@_exported public import struct SealedPack.UpdateCost
@_exported public import struct UpdateFramework.TrustChain
@_exported public import struct UpdateFramework.UTCTime
@_exported public import struct VaultBase.JSONObject
@_exported public import enum VaultBase.JSONValue
@_exported public import struct VaultCrypto.SHA256Digest
@_exported public import struct VaultCrypto.SecretBytes
@_exported public import struct VaultSite.Channel
@_exported public import struct VaultSite.DeviceTraits
