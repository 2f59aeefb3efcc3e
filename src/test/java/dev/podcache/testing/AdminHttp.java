package dev.podcache.testing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;

/**
 * Single requests to the programs of a test server, each over a connection of its own, without a thread.
 *
 * @param tls with the credentials of an administrator
 */
record AdminHttp(SSLContext tls) {

    private static final int CONFLICT = 409;

    /** Whether a GET is answered with success. */
    boolean isOk(String address) {
        try {
            read(open(address));
            return true;
        } catch (IOException notYet) {
            return false;
        }
    }

    String get(String address) {
        try {
            return read(open(address));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    JsonNode getJson(String address) {
        return json(get(address));
    }

    JsonNode post(String address, String json) {
        try {
            return json(read(written(address, json)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Posts an object, unless there is one of that name already. */
    void create(String address, String json) {
        try {
            HttpURLConnection connection = written(address, json);
            if (connection.getResponseCode() == CONFLICT) {
                connection.disconnect();
            } else {
                read(connection);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static JsonNode json(String text) {
        try {
            return new ObjectMapper().readTree(text);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    private HttpURLConnection written(String address, String json) throws IOException {
        HttpURLConnection connection = open(address);
        connection.setDoOutput(true);
        connection.setRequestProperty("Content-Type", "application/json");
        connection.getOutputStream().write(json.getBytes(StandardCharsets.UTF_8));
        return connection;
    }

    private static String read(HttpURLConnection connection) throws IOException {
        try (InputStream body = connection.getInputStream()) {
            return new String(body.readAllBytes(), StandardCharsets.UTF_8);
        } finally {
            // a server that is not ready says so with a body that nobody reads: its socket would stay open until it is
            // collected
            connection.disconnect();
        }
    }

    private HttpURLConnection open(String address) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) URI.create(address).toURL().openConnection();
        connection.setConnectTimeout(2_000);
        connection.setReadTimeout(10_000);
        connection.setRequestProperty("Connection", "close");
        if (connection instanceof HttpsURLConnection secure) {
            secure.setSSLSocketFactory(tls.getSocketFactory());
        }
        return connection;
    }
}
