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

/// Of async-http-client, which needs 17 of the 24 packages, and of NIO: an app with a transport of its own does without them.
let http = TargetDependencyCondition.when(traits: ["HTTP"])

func nio(_ names: String...) -> [Target.Dependency] {
    names.map { name in
        .product(name: name, package: name == "NIOSSL" ? "swift-nio-ssl" : "swift-nio", condition: http)
    }
}

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

/// A program that an outside judge drives; no product.
func peer(_ name: String, uses: [String]) -> Target {
    .executableTarget(
        name: "\(name)-peer", dependencies: uses.map { .byName(name: $0) } + [system],
        path: "Tests/Interop/\(name)/peer", swiftSettings: settings)
}

let package = Package(
    name: "AssetVault",
    products: [
        .library(name: "AssetVault", targets: ["AssetVault"]),
        .library(name: "AssetVaultFoundation", targets: ["AssetVaultFoundation"]),
        .executable(name: "assetvault", targets: ["VaultCommand"]),
        .plugin(name: "EmbeddedKeys", targets: ["EmbeddedKeys"]),
    ],
    traits: [
        .trait(
            name: "HTTP",
            description: "Reads sites at http and https URLs. The command and the tests need it."),
        .default(enabledTraits: ["HTTP"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
    ],
    targets: [
        // System libraries and inline shims.
        .systemLibrary(
            name: "CVaultOpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CVaultArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(name: "CVaultSystem"),

        // Foundations.
        module("VaultBase"),
        module("VaultFileSystem", uses: ["VaultBase", "CVaultSystem"], packages: [system]),
        module(
            "VaultCrypto", uses: ["VaultBase", "VaultFileSystem", "CVaultOpenSSL"],
            packages: [system, .product(name: "Subprocess", package: "swift-subprocess")]),

        // Packs, trust, and the way to a site.
        module(
            "SealedPack", uses: ["VaultBase", "VaultFileSystem", "VaultCrypto", "CVaultArchive"],
            packages: [system]),
        module(
            "UpdateFramework", uses: ["VaultBase", "VaultFileSystem", "VaultCrypto"], packages: [system]),
        module("VaultTransport", uses: ["VaultBase", "VaultFileSystem"], packages: [system]),
        module(
            "VaultHTTP", uses: ["VaultBase", "VaultFileSystem", "VaultCrypto", "VaultTransport"],
            packages: [
                system, .product(name: "AsyncHTTPClient", package: "async-http-client", condition: http),
            ] + nio("NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL")),
        module("VaultSite", uses: ["VaultBase", "SealedPack", "UpdateFramework", "VaultTransport"]),

        module(
            "DevelopmentServer", uses: ["VaultBase", "VaultFileSystem"],
            packages: [system] + nio("NIOCore", "NIOHTTP1", "NIOPosix")),

        // What is done with them: author and client never import each other.
        module(
            "AssetVault",
            uses: [
                "VaultBase", "VaultFileSystem", "VaultCrypto", "SealedPack", "UpdateFramework",
                "VaultTransport", "VaultSite",
            ],
            packages: [
                system, .product(name: "DequeModule", package: "swift-collections"),
                .target(name: "VaultHTTP", condition: http),
            ]),
        // Apart, so that who does without all of Foundation needs not carry it.
        module("AssetVaultFoundation", uses: ["AssetVault"], packages: [system]),
        module(
            "VaultAuthoring",
            uses: [
                "VaultBase", "VaultFileSystem", "VaultCrypto", "SealedPack", "UpdateFramework",
                "VaultTransport", "VaultSite", "CVaultArchive",
            ], packages: [system, .product(name: "Subprocess", package: "swift-subprocess")]),
        .executableTarget(
            name: "VaultCommand",
            dependencies: [
                "VaultBase", "VaultFileSystem", "VaultCrypto", "SealedPack", "UpdateFramework",
                "VaultTransport", "VaultHTTP", "VaultSite", "VaultAuthoring", "AssetVault",
                "DevelopmentServer",
                system,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: settings),

        // Keys that a build puts into an app, masked.
        .plugin(
            name: "EmbeddedKeys", capability: .buildTool(), dependencies: ["EmbeddedKeysTool"],
            path: "Sources/EmbeddedKeys"),
        .executableTarget(
            name: "EmbeddedKeysTool",
            dependencies: ["VaultBase", "VaultFileSystem", "VaultCrypto", system], swiftSettings: settings),

        // What tests share.
        .target(
            name: "FaultServer",
            dependencies: nio("NIOCore", "NIOPosix", "NIOSSL"), path: "Tests/Support/FaultServer",
            swiftSettings: settings),
        .target(
            name: "TestFiles", dependencies: [system], path: "Tests/Support/TestFiles",
            swiftSettings: settings),
        .target(name: "Sampling", path: "Tests/Support/Sampling", swiftSettings: settings),

        // Tests. The peers speak for their module to the outside judges in Tests/Interop.
        tests("VaultBase"),
        tests("VaultFileSystem", uses: ["VaultBase", "Sampling"], packages: [system]),
        tests("VaultCrypto", uses: ["VaultBase", "VaultFileSystem"], packages: [system]),
        tests(
            "SealedPack",
            uses: ["VaultBase", "VaultFileSystem", "VaultCrypto", "VaultAuthoring", "Sampling", "TestFiles"],
            packages: [system]),
        tests(
            "UpdateFramework", uses: ["VaultBase", "VaultFileSystem", "VaultCrypto"], packages: [system]),
        tests(
            "VaultTransport", uses: ["VaultBase", "VaultCrypto", "VaultHTTP", "FaultServer", "Sampling"],
            packages: [system]),
        tests(
            "VaultSite", uses: ["VaultBase", "VaultCrypto", "SealedPack", "UpdateFramework", "Sampling"]),
        tests(
            "VaultAuthoring",
            uses: [
                "VaultBase", "VaultFileSystem", "VaultCrypto", "SealedPack", "UpdateFramework",
                "VaultTransport", "VaultSite", "VaultCommand", "Sampling", "TestFiles",
            ], packages: [system]),
        tests(
            "DevelopmentServer", uses: ["VaultBase", "TestFiles"],
            packages: [system] + nio("NIOCore", "NIOPosix")),
        tests(
            "AssetVault",
            uses: [
                "VaultBase", "VaultFileSystem", "VaultCrypto", "SealedPack", "VaultAuthoring",
                "UpdateFramework", "VaultTransport", "VaultHTTP", "FaultServer", "Sampling", "TestFiles",
                "AssetVaultFoundation",
            ], packages: [system]),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "VaultBase", "VaultFileSystem", "VaultCrypto", "SealedPack", "VaultAuthoring", "AssetVault",
                "VaultCommand", "FaultServer", "Sampling", "TestFiles", system,
                .product(name: "Subprocess", package: "swift-subprocess"),
            ], exclude: ["Scripts"], swiftSettings: settings),
        .testTarget(name: "ReadmeTests", dependencies: ["AssetVault"], swiftSettings: settings),
        .executableTarget(
            name: "tuf-conformance-client",
            dependencies: [
                "VaultBase", "VaultFileSystem", "UpdateFramework", "VaultTransport", "VaultHTTP", system,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], path: "Tests/Interop/tuf/conformance-client", swiftSettings: settings),
        peer("archive", uses: ["VaultBase", "VaultFileSystem", "VaultAuthoring"]),
        peer("crypto", uses: ["VaultBase", "VaultCrypto"]),
        peer("keys", uses: ["VaultBase", "VaultCrypto"]),
        // Tests of several processes with one store drive it.
        .executableTarget(
            name: "request-peer", dependencies: ["AssetVault", "VaultCrypto", "VaultFileSystem"],
            path: "Tests/Support/RequestPeer", swiftSettings: settings),
        // Reads made-up input; Tests/Fuzzing/run.sh makes a fuzzer of it.
        .executableTarget(
            name: "fuzzer",
            dependencies: [
                "VaultBase", "VaultCrypto", "VaultAuthoring", "UpdateFramework", "VaultTransport",
                "VaultHTTP",
                "AssetVault", "FaultServer", system,
            ], path: "Tests/Fuzzing/fuzzer", swiftSettings: settings),
    ]
)
