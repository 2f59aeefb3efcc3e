package dev.podcache.apiserver.credentials;

/**
 * Thrown if a kubeconfig, a key, a certificate, a token or a credential plugin cannot be used. The message names the file,
 * the field and the remedy; it never has a value, or what a plugin printed. For the same reason it has no cause.
 */
public final class CredentialsException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** Creates a refusal. */
    public CredentialsException(String message) {
        super(message);
    }
}
