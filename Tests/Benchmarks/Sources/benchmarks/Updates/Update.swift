import FoundationEssentials

/// Two versions of the same content, one folder each.
struct Update: Sendable {
    let name: String
    let old: String
    let new: String
    let rivals: [Rival]
    /// Every vault cuts elsewhere, so that bytes vary a little. Large containers take too long for more than one.
    let rounds: Int

    /// Each version and the one after it, of all histories; then of the large containers. Histories are folders of
    /// versions, whose names sort.
    static func all(in cache: String, rounds: Int) throws -> [Update] {
        try each(in: cache + "/histories", rivals: Rival.all, rounds: rounds)
            + each(in: cache + "/containers", rivals: [], rounds: 1)
    }

    private static func each(in folder: String, rivals: [Rival], rounds: Int) throws -> [Update] {
        try names(in: folder).flatMap { history in
            let versions = try names(in: folder + "/" + history)
            return zip(versions, versions.dropFirst()).map { old, new in
                Update(
                    name: "\(history) \(old) to \(new)", old: "\(folder)/\(history)/\(old)",
                    new: "\(folder)/\(history)/\(new)", rivals: rivals,
                    rounds: rounds)
            }
        }
    }

    private static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasPrefix(".") }.sorted()
    }
}

/// Another tool that transfers what changed.
struct Rival: Sendable {
    let name: String
    /// For bash: writes to `$out/bytes` how much who holds `$old` must download for `$new`.
    let script: String
    /// Whether another run finds other bytes: then it runs in every round, else in the first.
    let varies: Bool

    static let all = [
        Rival(
            name: "casync",
            script: """
                casync make --store=$out/store.castr $out/old.caidx $old
                before=$(size $out/store.castr)
                casync make --store=$out/store.castr $out/new.caidx $new
                echo $(($(size $out/store.castr $out/new.caidx) - before)) >$out/bytes
                """, varies: false),
        Rival(
            name: "zchunk",
            script: """
                for version in old new; do
                    tar --sort=name --owner=0 --group=0 --numeric-owner -C ${!version} -cf $out/$version.tar .
                    zck -o $out/$version.zck $out/$version.tar
                done
                zck_delta_size $out/old.zck $out/new.zck | awk '/^Would download.*bytes/ { print $3 }' >$out/bytes
                """, varies: false),
        Rival(
            name: "restic",
            script: """
                restic -q --no-cache -r $out/restic init
                (cd $old && exec restic -q --no-cache -r $out/restic backup .)
                before=$(size $out/restic)
                (cd $new && exec restic -q --no-cache -r $out/restic backup .)
                echo $(($(size $out/restic) - before)) >$out/bytes
                """, varies: true),
    ]

    static let functions = """
        size() { find "$@" -type f -printf '%s\\n' | awk '{ sum += $1 } END { print sum }'; }

        """
}
