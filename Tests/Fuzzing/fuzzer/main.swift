import Foundation

// fuzzer TARGET FILE...                                    reads files, as to see a finding again
// fuzzer TARGET --seconds N --seed N [--dictionary FILE] FILE...   reads these, and then changes of them at random
//
// Built with -DFUZZING -sanitize=fuzzer,address it is `fuzzer TARGET OPTION-OF-LIBFUZZER...`.
var words = Array(CommandLine.arguments.dropFirst())
let names = ["metadata", "archives", "rules", "answers", "stores"]
guard let name = words.first, names.contains(name) else {
    fatalError("name a target: \(names.joined(separator: ", "))")
}
let target: any FuzzTarget =
    switch name {
    case "metadata": MetadataReader()
    case "archives": ArchiveTarget()
    case "rules": RuleTarget()
    case "answers": AnswerTarget()
    default: StoreTarget()
    }
words.removeFirst()

#if FUZZING
    typealias Entry = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

    @_silgen_name("LLVMFuzzerRunDriver")
    func runFuzzer(
        _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutableRawPointer, _ entry: Entry
    ) -> CInt

    let entry: Entry = { start, count in
        unsafe target.read([UInt8](UnsafeBufferPointer(start: start, count: count)))
        return 0
    }
    // libFuzzer is not to see the name of the target.
    var count = CommandLine.argc - 1
    let first = unsafe CommandLine.unsafeArgv
    unsafe first[1] = first[0]
    var arguments = unsafe first + 1
    exit(unsafe runFuzzer(&count, &arguments, entry))
#else
    func take(_ option: String, from words: inout [String]) -> String? {
        guard let index = words.firstIndex(of: option), index + 1 < words.count else { return nil }
        defer { words.removeSubrange(index...index + 1) }
        return words[index + 1]
    }

    func content(of path: String) -> [UInt8] {
        guard let content = FileManager.default.contents(atPath: path) else { fatalError("no file \(path)") }
        return Array(content)
    }

    let seconds = take("--seconds", from: &words).flatMap { Double($0) } ?? 0
    let seed = take("--seed", from: &words).flatMap { UInt64($0) } ?? 0
    // Words of libFuzzer's dictionaries: "..." with \" and \\.
    let dictionary = take("--dictionary", from: &words).map { path in
        String(decoding: content(of: path), as: UTF8.self).split(separator: "\n").filter { $0.first == "\"" }
            .map { line in
                Array(
                    line.dropFirst().dropLast().replacing("\\\"", with: "\"").replacing("\\\\", with: "\\")
                        .utf8)
            }
    }
    let seeds = words.map { content(of: $0) }
    for seed in seeds { target.read(seed) }
    guard seconds > 0 else { exit(0) }
    var mutation = Mutation(of: seeds, dictionary: dictionary ?? [], seed: seed)
    let clock = ContinuousClock()
    let end = clock.now + .seconds(seconds)
    // Written before it is read: what stops the program is there to be looked at.
    let last = URL(filePath: NSTemporaryDirectory()).appending(
        path: "fuzzer-\(name)-\(ProcessInfo.processInfo.processIdentifier)")
    var count = 0
    while clock.now < end {
        let input = mutation.next()
        try Data(input).write(to: last)
        target.read(input)
        count += 1
    }
    try FileManager.default.removeItem(at: last)
    print("\(name): \(seeds.count) seeds and \(count) changes of them, with the seed \(seed)")
#endif
