extension Contest {
    static let auditWithoutKey = Contest(
        "audit without a key", preparation: Preparation.pack,
        Contender("assetvault audit", "$assetvault audit $pack"),
        // 1.8 times the throughput.
        Contender("openssl dgst -sha256", "openssl dgst -sha256 $pack", goals: .wall(0.56)))

    static let auditWithKey = Contest(
        "audit with the key", preparation: Preparation.pack + Preparation.age,
        Contender("assetvault audit --keys", "$assetvault audit $pack --keys file:$key"),
        Contender(
            "age -d, zstd -d, sha256", "age -d -i $identity $age | zstd -dcq | openssl dgst -sha256"))
}
