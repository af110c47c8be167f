import Foundation
import Testing
import VaultBase

/// Secrets that are looked for in all that a command shows or leaves.
struct Canary {
    private struct Form {
        let name: String
        let bytes: [UInt8]
    }

    private var forms: [Form] = []

    /// Looks for these 32 bytes, too: raw, also each half of them; in hex, base64 and base64url.
    mutating func add(_ secret: [UInt8], named name: String) {
        let hex = secret.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        // Without the last characters, which depend on what follows.
        let texts = [
            hex, hex.uppercased(), Data(secret).base64EncodedString(), Base64URL.encode(secret.span),
        ]
        .map { Array($0.utf8.dropLast(4)) }
        for bytes in [Array(secret.prefix(16)), Array(secret.suffix(16))] + texts {
            forms.append(Form(name: name, bytes: bytes))
        }
    }

    /// Looks for this text, too.
    mutating func add(text: String, named name: String) {
        forms.append(Form(name: name, bytes: Array(text.utf8)))
    }

    /// The names of the secrets that are there.
    func found(in bytes: Data) -> Set<String> {
        Set(forms.filter { bytes.contains($0.bytes) }.map(\.name))
    }
}

extension Data {
    /// Faster than `range(of:)` by far, which counts in the memory of a process. By pointers, since slices are slow in a debug build.
    func contains(_ part: [UInt8]) -> Bool {
        unsafe withUnsafeBytes { all in
            guard var start = all.baseAddress, all.count >= part.count else { return false }
            let end = unsafe start + (all.count - part.count + 1)
            while let found = unsafe memchr(start, Int32(part[0]), end - start) {
                if unsafe memcmp(found, part, part.count) == 0 { return true }
                unsafe start = UnsafeRawPointer(found) + 1
            }
            return false
        }
    }
}

/// A library that lets processes tell of themselves.
///
/// The command writes its writable memory to a file when it ends, after the last of its own code: without pages of zeros. All other
/// programs, which it starts, write their arguments, environment and inherited files when they begin.
struct Telltale {
    private let wrapper: [String]
    private let folder: String
    private let world: any Workplace

    init(in world: some Workplace) async throws {
        self.world = world
        folder = try world.makeFolder("telltale")
        wrapper =
            try await PreloadedLibrary.through(Self.source, in: world) + ["CANARY_FOLDER=\(folder)"]
    }

    /// A wrapper for a command.
    func through(dumpable: Bool = false) -> [String] { wrapper + (dumpable ? ["CANARY_DUMPABLE=1"] : []) }

    /// What was told since it was last asked: by name, `memory.PID` or `child.PID`.
    func told() throws -> [String: Data] {
        var told: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            told[name] = try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
            try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
        return told
    }

    private static let source = """
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <stdarg.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/prctl.h>
        #include <sys/resource.h>
        #include <sys/stat.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        static const char zeros[4096];
        static int is_command(void) { return !strcmp(program_invocation_short_name, "assetvault"); }
        static int report(const char *kind) {
            char path[4096];
            const char *folder = getenv("CANARY_FOLDER");
            if (!folder) return -1;
            snprintf(path, sizeof path, "%s/%s.%d", folder, kind, getpid());
            return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        }
        static void copy(int to, int from) {
            static char block[65536];
            ssize_t count;
            for (off_t at = 0; (count = pread(from, block, sizeof block, at)) > 0; at += count)
                if (write(to, block, count) != count) abort();
        }
        __attribute__((constructor)) static void begin(void) {
            if (is_command()) return;
            int to = report("child");
            if (to < 0) return;
            const char *own[] = {"/proc/self/cmdline", "/proc/self/environ"};
            for (int i = 0; i < 2; i++) {
                int from = open(own[i], O_RDONLY | O_CLOEXEC);
                char byte;
                while (read(from, &byte, 1) == 1) if (write(to, &byte, 1) != 1) abort();
                close(from);
            }
            for (int file = 0; file < 256; file++) {
                struct stat status;
                if (file != to && !fstat(file, &status) && S_ISREG(status.st_mode)) copy(to, file);
            }
            close(to);
        }
        __attribute__((destructor)) static void end(void) {
            if (!is_command()) return;
            int to = report("memory");
            if (to < 0) return;
            FILE *maps = fopen("/proc/self/maps", "re");
            char line[4200];
            while (maps && fgets(line, sizeof line, maps)) {
                unsigned long from, behind;
                char mode[5];
                if (sscanf(line, "%lx-%lx %4s", &from, &behind, mode) != 3 || strncmp(mode, "rw", 2)) continue;
                for (; from < behind; from += 4096)
                    if (memcmp((void *)from, zeros, 4096) && write(to, (void *)from, 4096) < 0 && errno != EFAULT)
                        abort();
            }
            close(to);
        }
        int prctl(int option, ...) {
            va_list list;
            va_start(list, option);
            unsigned long a = va_arg(list, unsigned long), b = va_arg(list, unsigned long),
                c = va_arg(list, unsigned long), d = va_arg(list, unsigned long);
            va_end(list);
            if (option == PR_SET_DUMPABLE && getenv("CANARY_DUMPABLE")) return 0;
            return syscall(SYS_prctl, option, a, b, c, d);
        }
        int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit) {
            if (resource == RLIMIT_CORE && getenv("CANARY_DUMPABLE")) return 0;
            return prlimit(getpid(), resource, limit, NULL);
        }
        """
}
