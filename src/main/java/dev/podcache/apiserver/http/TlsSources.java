package dev.podcache.apiserver.http;

import com.google.common.base.Strings;
import com.google.common.hash.HashCode;
import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The files and texts from which fabric8 makes keys and trusted CAs. That takes a tenth of a second of processor time, because it
 * encrypts the key, so they are made only if these sources have changed.
 */
final class TlsSources {

    private TlsSources() {}

    /** Returns a hash of the keys, certificates and CAs that {@code config} has or names. Empty if a file is unreadable. */
    static Optional<HashCode> hash(Config config) {
        Hasher hasher = Hashing.sha256().newHasher();
        for (String data : Arrays.asList(
                config.getClientCertData(),
                config.getClientKeyData(),
                config.getClientKeyAlgo(),
                config.getClientKeyPassphrase(),
                config.getCaCertData())) {
            put(hasher, Strings.nullToEmpty(data).getBytes(StandardCharsets.UTF_8));
        }
        try {
            for (String file : Arrays.asList(
                    config.getClientCertFile(),
                    config.getClientKeyFile(),
                    config.getCaCertFile(),
                    config.getKeyStoreFile(),
                    config.getTrustStoreFile(),
                    // fabric8 adds the CAs of the JVM
                    System.getProperty("javax.net.ssl.trustStore"))) {
                put(hasher, content(file));
            }
        } catch (IOException | InvalidPathException unreadable) {
            return Optional.empty();
        }
        return Optional.of(hasher.hash());
    }

    private static byte[] content(@Nullable String file) throws IOException {
        return Strings.isNullOrEmpty(file) ? new byte[0] : Files.readAllBytes(Path.of(file));
    }

    private static void put(Hasher hasher, byte[] part) {
        hasher.putInt(part.length).putBytes(part);
    }
}
