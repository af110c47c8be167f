import Glibc
import Testing

/// A pack is opened on a disk that has no room for both of its forms.
@Suite(.timeLimit(.minutes(5)), .enabled(if: MountedAreas.areAllowed, "this user may not mount anything"))
struct ConsumedPackTests {
    let sample: SamplePack
    let disk: String

    /// 24 MB in some 180 pieces.
    init() async throws {
        sample = try SamplePack()
        disk = try sample.makeFolder("disk")
        try sample.write("level/large.bin", Bytes.random(24_000_000, seed: 7))
        try await sample.seal()
    }

    /// A disk of 32 MB with the pack.
    private func mounting(_ fileSystem: String) -> [String] {
        let image = sample["image"]
        let mount =
            fileSystem == "tmpfs"
            ? "mount -t tmpfs -o size=32m none '\(disk)'"
            : "truncate -s 38m '\(image)' && mkfs.ext4 -q -m 0 '\(image)' && mount -o loop '\(image)' '\(disk)'"
        let copy = "cp '\(sample.pack)' '\(sample.pack).json' '\(disk)/'"
        return Sandbox.mounting("\(mount) && \(copy)")
    }

    private static let fileSystems = geteuid() == 0 ? ["tmpfs", "ext4"] : ["tmpfs"]

    /// Without the option the disk is full, and nothing changes.
    @Test(arguments: fileSystems) func theDiskIsFullWithoutIt(fileSystem: String) async throws {
        let check = Command.shell(
            """
            cd '\(disk)' && ls -A > '\(sample["before"])' && "$@"; code=$?
            ls -A | cmp - '\(sample["before"])' && cmp level.avpack '\(sample.pack)' && exit $code
            """)
        try await sample.run(
            "open \(disk)/level.avpack -o \(disk)/out $KEYS", through: mounting(fileSystem) + check
        ).failed(71, naming: disk, "full")
    }

    /// With it the pack is opened, also if it is killed three times.
    @Test(arguments: fileSystems) func theOpenedPackFits(fileSystem: String) async throws {
        let kills = Command.shell(
            """
            for step in piecesFreed:4 piecesFreed:1 piecesFreed:1; do
                ASSETVAULT_FAIL_POINT=$step "$@"; code=$?
                [ $code = 137 ] || { echo "$code at $step" >&2; exit 1; }
            done
            "$@" && diff -r '\(sample.level)' '\(disk)/out' >&2 && ls -A '\(disk)' | grep -v lost+found
            """)
        let result = try await sample.run(
            "open \(disk)/level.avpack -o \(disk)/out --consume $KEYS",
            through: mounting(fileSystem) + kills, dyingAt: "none")
        try result.succeeded()
        #expect(result.text == "level.avpack.json\nout\n")
    }
}
