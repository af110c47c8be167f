extension Contest {
    static let seal = Contest(
        "seal", preparation: "",
        Contender("assetvault seal", Script.seal("$out/pack"), goals: .peakMebibytes(64)),
        Contender(
            "tar, zstd -3 -T2, age", "\(Script.piped) | age -r $recipient >$out/age", goals: .wall(0.60)),
        Contender("the same, then sync", "\(Script.piped) | age -r $recipient >$out/age && sync $out/age"),
        Contender(
            "tar, zstd -3 -T2 (not encrypted)", "\(Script.piped) >$out/zst", goals: .wall(1.0)),
        Contender(
            "restic backup, new repository", Script.backUp("$out/restic"),
            setup: Script.initRestic("$out/restic"), warmsUp: false, goals: .wall(0.15)),
        Contender(
            "casync make (not encrypted)", "casync make --store=$out/store.castr $out/tree.caidx $corpus",
            warmsUp: false))
}
