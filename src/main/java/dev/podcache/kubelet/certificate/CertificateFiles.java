package dev.podcache.kubelet.certificate;

import dev.podcache.apiserver.credentials.PrivateKeys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.cert.CertificateException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/**
 * A node's certificate and key in the files of a kubelet. Every method blocks. Used by one thread at a time.
 *
 * <p>Follows {@code client-go/util/certificate/certificate_store.go}, with its names. Unlike upstream, the link is
 * replaced by one rename, so it exists at any time.
 */
final class CertificateFiles {

    /*
     * kubelet-client-2026-01-31-23-59-59.pem   a certificate with its key; written under another name and renamed
     * kubelet-client-updated.pem               a link to a new pair, which is renamed to the next one
     * kubelet-client-current.pem               the link to the pair in use
     * kubelet-client.key.tmp                   the key of a request that may be pending
     *
     * After a crash at any point, the current link is the old or the new one, and both lead to complete files. An upstream
     * kubelet removes the current link before the rename: if only the updated link is left, it is renamed when it is read.
     */

    private static final String PREFIX = "kubelet-client";
    private static final DateTimeFormatter DATE =
            DateTimeFormatter.ofPattern("yyyy-MM-dd-HH-mm-ss").withZone(ZoneOffset.UTC);

    private final Path directory;
    private final Path current;
    private final Path updated;
    private final Path pendingKey;

    CertificateFiles(Path directory) {
        this.directory = directory.toAbsolutePath();
        this.current = this.directory.resolve(PREFIX + "-current.pem");
        this.updated = this.directory.resolve(PREFIX + "-updated.pem");
        this.pendingKey = this.directory.resolve(PREFIX + ".key.tmp");
    }

    /** Returns the file with the certificate and the key in use; absolute. */
    Path current() {
        return current;
    }

    /**
     * Returns the certificate and the key in use.
     *
     * @throws IOException if there are none, or they cannot be read
     * @throws GeneralSecurityException if they are damaged, or do not belong together
     */
    CertifiedKey read() throws IOException, GeneralSecurityException {
        if (!Files.exists(current, LinkOption.NOFOLLOW_LINKS) && Files.isSymbolicLink(updated)) {
            Files.move(updated, current, StandardCopyOption.ATOMIC_MOVE);
        }
        String pem = Files.readString(current);
        return CertifiedKey.stored(pem, PrivateKeys.read(pem));
    }

    /**
     * Replaces the certificate and the key in use. They are unchanged if this throws.
     *
     * @throws IOException also if the directory is that of another node
     */
    void store(String node, CertifiedKey identity, Instant now) throws IOException {
        requireOwn(node);
        if (Files.exists(current, LinkOption.NOFOLLOW_LINKS) && !Files.isSymbolicLink(current)) {
            throw new IOException(current + " must be a symbolic link, but is another file: move it away");
        }
        Path dated = directory.resolve(PREFIX + "-" + DATE.format(now) + ".pem");
        PrivateFile.replace(dated, identity.pem());
        Files.deleteIfExists(updated);
        Files.createSymbolicLink(updated, dated);
        Files.move(updated, current, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /**
     * Returns the request that may be pending since an earlier start, or a new one with a new key.
     *
     * @throws IOException if the key cannot be kept, or the directory is that of another node
     */
    SigningRequest request(String node) throws IOException {
        requireOwn(node);
        if (Files.exists(pendingKey)) {
            try {
                KeyPair keys = KeyPairs.ofPem(Files.readString(pendingKey));
                if (!isInUse(keys)) {
                    return new SigningRequest(node, keys);
                }
            } catch (GeneralSecurityException damaged) {
                // as if there were none
            }
        }
        SigningRequest request = new SigningRequest(node, KeyPairs.newPair());
        PrivateFile.replace(pendingKey, KeyPairs.pem(request.keys()));
        return request;
    }

    /** The kubelet of this machine, which is another node, needs its certificate. */
    private void requireOwn(String node) throws IOException {
        CertifiedKey used;
        try {
            used = read();
        } catch (IOException | GeneralSecurityException unusable) {
            return;
        }
        try {
            used.requireUser(node);
        } catch (CertificateException e) {
            throw new IOException(
                    current + " is not of node " + node + ", " + e.getMessage() + ": use another directory", e);
        }
    }

    /** Returns whether a crash came between {@link #store} and {@link #dropRequest}: its request must not be repeated. */
    private boolean isInUse(KeyPair keys) {
        try {
            return read().certificate().getPublicKey().equals(keys.getPublic());
        } catch (IOException | GeneralSecurityException unusable) {
            return false;
        }
    }

    /** Forgets the key of the pending request, so that the next request has a new key. */
    void dropRequest() throws IOException {
        Files.deleteIfExists(pendingKey);
    }
}
