// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")

/// A library module of this package; `uses` lists modules that stand before it in the order below.
func module(_ name: String, uses: [String] = [], packages: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: uses.map { .byName(name: $0) } + packages, swiftSettings: settings)
}

/// The tests of one module.
func tests(_ name: String, uses: [String] = [], packages: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: "\(name)Tests",
        dependencies: [.byName(name: name)] + uses.map { .byName(name: $0) } + packages,
        swiftSettings: settings)
}

let package = Package(
    name: "AssetVault",
    products: [
        .library(name: "AssetVault", targets: ["AssetVault"]),
        .executable(name: "assetvault", targets: ["assetvault"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
    ],
    targets: [
        // System libraries and inline shims, each imported by exactly one module.
        .systemLibrary(
            name: "CVaultOpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CVaultArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(name: "CVaultSystem"),

        // Foundations.
        module("VaultErrors"),
        module("StrictJSON", uses: ["VaultErrors"]),
        module("VaultFileSystem", uses: ["VaultErrors", "CVaultSystem"], packages: [system]),
        module("VaultCrypto", uses: ["VaultErrors", "CVaultOpenSSL"]),
        module(
            "VaultArchive", uses: ["VaultErrors", "VaultFileSystem", "CVaultArchive"],
            packages: [system]),

        tests("StrictJSON", uses: ["VaultErrors"]),
        tests("VaultFileSystem", uses: ["VaultErrors"], packages: [system]),
        tests("VaultCrypto", uses: ["VaultErrors"]),
        tests("VaultArchive", uses: ["VaultErrors", "VaultFileSystem"], packages: [system]),
    ]
)
