package dev.podcache.apiserver.http;

import com.google.common.base.Strings;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A PEM text that has a certificate, its chain and its private key, as {@code kubelet-client-current.pem} of a kubelet.
 * A kubeconfig names such a file twice. fabric8 cannot read one: it takes the certificate for the key.
 */
public final class CombinedPem {

    private static final Pattern BLOCK =
            Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----\\s.*?-----END \\1-----", Pattern.DOTALL);
    private static final Pattern KEY =
            Pattern.compile("-----BEGIN ((?:[A-Z0-9]+ )?PRIVATE KEY)-----\\s(.*?)-----END \\1-----", Pattern.DOTALL);

    private CombinedPem() {}

    /** Returns the certificates in {@code pem}, in their order; empty if there is none. */
    public static String certificates(String pem) {
        return BLOCK.matcher(pem)
                .results()
                .filter(block -> block.group(1).equals("CERTIFICATE"))
                .map(MatchResult::group)
                .map(block -> block + "\n")
                .collect(Collectors.joining());
    }

    /** Returns the first private key in {@code pem}; empty if there is none. */
    public static String privateKey(String pem) {
        Matcher key = KEY.matcher(pem);
        return key.find() ? key.group() + "\n" : "";
    }

    /**
     * Returns {@code config}; if it names one file for the certificate and the key, a copy that has the contents of both
     * instead. Blocks while the file is read. A file that cannot be read stays in the configuration.
     */
    public static Config separated(Config config) {
        String file = config.getClientCertFile();
        boolean hasData =
                !Strings.isNullOrEmpty(config.getClientCertData()) || !Strings.isNullOrEmpty(config.getClientKeyData());
        if (Strings.isNullOrEmpty(file) || hasData || !file.equals(config.getClientKeyFile())) {
            return config;
        }
        String pem;
        try {
            pem = Files.readString(Path.of(file));
        } catch (IOException | InvalidPathException unreadable) {
            return config;
        }
        // otherwise build() would read the environment and run a plugin
        return new ConfigBuilder(config)
                .withAutoConfigure(false)
                .withClientCertFile(null)
                .withClientKeyFile(null)
                .withClientCertData(base64(certificates(pem)))
                .withClientKeyData(base64(privateKey(pem)))
                .withClientKeyAlgo(algorithm(pem))
                .build();
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Returns the name that fabric8 wants; it knows no other algorithms. */
    private static String algorithm(String pem) {
        Matcher key = KEY.matcher(pem);
        if (!key.find()) {
            return "RSA";
        }
        if (!key.group(1).equals("PRIVATE KEY")) {
            return key.group(1).startsWith("EC ") ? "EC" : "RSA";
        }
        try {
            byte[] der = Base64.getMimeDecoder().decode(key.group(2));
            KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(der));
            return "EC";
        } catch (GeneralSecurityException | IllegalArgumentException another) {
            return "RSA";
        }
    }
}
