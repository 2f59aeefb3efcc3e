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
 * Sends single HTTP requests to the programs of a test server. Each request has its own connection and runs on the
 * calling thread.
 *
 * @param tls the TLS context with the credentials of an administrator
 */
record AdminHttp(SSLContext tls) {

    private static final int CONFLICT = 409;

    /** Returns whether a GET succeeds. */
    boolean isOk(String address) {
        try {
            read(open(address));
            return true;
        } catch (IOException notYet) {
            return false;
        }
    }

    /** Returns the body of the response to a GET. */
    String get(String address) {
        try {
            return read(open(address));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the body of the response to a GET, as JSON. */
    JsonNode getJson(String address) {
        return json(get(address));
    }

    /** Posts a JSON body and returns the body of the response. */
    JsonNode post(String address, String json) {
        try {
            return json(read(written(address, json)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Creates an object. Does nothing if an object with its name exists. */
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
            // a server that is not ready sends an error body that is not read; without the disconnect, its socket would
            // stay open until garbage collection
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
