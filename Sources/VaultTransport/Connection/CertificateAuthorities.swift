import NIOSSL
public import SystemPackage
public import VaultErrors
import VaultFileSystem

/// The only certificate authorities to trust, for hosts with a certificate of a private one.
public struct CertificateAuthorities: Sendable {
    let certificates: [NIOSSLCertificate]

    /// Reads a file of PEM certificates.
    ///
    /// - Throws: `.missing` when the file does not exist, `.corrupt` when it holds no certificates.
    public init(pem path: FilePath) throws(VaultError) {
        let bytes = try DurableFile.read(path, limit: 16 << 20)
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(bytes), !certificates.isEmpty else {
            throw VaultError(
                .corrupt, "not a file of PEM certificates", at: path.string,
                remedy: "use the file with the certificate of the host's certificate authority")
        }
        self.certificates = certificates
    }
}
