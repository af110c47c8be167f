// swift-tools-version: 6.2
import PackageDescription

// A package of its own: it measures whole processes, so it needs nothing of AssetVault, and AssetVault's users never
// build it.
let package = Package(
    name: "benchmarks",
    targets: [
        .executableTarget(
            name: "benchmarks",
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .strictMemorySafety(),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ])
    ])
