import Foundation

// Built with -DFUZZING -sanitize=fuzzer,address: libFuzzer feeds the reader. Else it reads the files that are named on
// the command line, as to see again what a finding was, or that all seeds still pass.
let reader = MetadataReader()

#if FUZZING
    typealias Entry = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

    @_silgen_name("LLVMFuzzerRunDriver")
    func runFuzzer(
        _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutableRawPointer, _ entry: Entry
    ) -> CInt

    let entry: Entry = { start, count in
        unsafe reader.read([UInt8](UnsafeBufferPointer(start: start, count: count)))
        return 0
    }
    var count = CommandLine.argc
    var arguments = unsafe CommandLine.unsafeArgv
    exit(unsafe runFuzzer(&count, &arguments, entry))
#else
    for path in CommandLine.arguments.dropFirst() {
        guard let input = FileManager.default.contents(atPath: path) else { fatalError("no file \(path)") }
        print(path, reader.read(Array(input)))
    }
#endif
