import Git
import NotebookSupport
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

/// notes-save(1), "What looks like a secret".
@Suite("What looks like a secret")
struct SecretSignTests {
  // None of these opens anything: the characters are counted off.
  private static let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIB"

  /// So many characters as a token has them.
  private static func mixed(_ count: Int) -> String {
    String("aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zAbCdEfGh3jK5mN7pQ9rS2tU4vW6xY8zA1bC3d".prefix(count))
  }

  private static let secrets: [String] = [
    "-----BEGIN PRIVATE KEY-----\n\(body)\n-----END PRIVATE KEY-----\n",
    "-----BEGIN OPENSSH PRIVATE KEY-----\r\n\(body)\r\n",
    "x\n-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n\(body)\n",
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n\(body)\n",
    "token ghp_\(mixed(36)) of mine", "github_pat_\(mixed(62))",
    "(glpat-\(mixed(20)))", "xoxb-\(mixed(30))",
    "key='sk_live_\(mixed(24))'", "AKIA\(mixed(16).uppercased())",
    "AIza\(mixed(35))\n", "AGE-SECRET-KEY-1\(mixed(58).uppercased())",
    "npm_\(mixed(36))", "sk-ant-\(mixed(45))", "hf_\(mixed(34)).",
  ]

  private static let innocent: [String] = [
    "-----BEGIN PRIVATE KEY-----\nis how a private key begins.\n",
    "-----BEGIN CERTIFICATE-----\n\(body)\n-----END CERTIFICATE-----\n",
    "-----BEGIN PUBLIC KEY-----\n\(body)\n", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n\(body)\n",
    "ssh-ed25519 AAAA\(body) ada@home", "ghp_ is what they begin with",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "npm_config_registry=https://registry.example.org/a/long/way/to/it", "AKIA",
    "AKIAIOSFODNN7EXAMPLEANDMORE",
    "Zakopane, SLOVAKIA1234567890ABCDEF", "the password is hunter2",
    "sk-ant-what-and-why-is-there-no-digit-in-here-at-all",
    "sha256 \(mixed(64))\(mixed(64))", "hf_\(mixed(50))", "see id_rsa and store.kdbx",
    "https://example.org/?key=AIzaShort", "lorem ipsum glpat-short",
  ]

  @Test("is named", arguments: secrets)
  func isNamed(_ text: String) {
    #expect(SecretSign.found(in: Array(text.utf8)).count == 1)
  }

  @Test("and what only speaks of one is not", arguments: innocent)
  func isPassedOver(_ text: String) {
    #expect(SecretSign.found(in: Array(text.utf8)).isEmpty)
  }

  @Test("Files of passwords and keys are known by their names")
  func files() {
    for name in ["id_rsa", "keys/id_ed25519", "Vault.kdbx", "a/me.P12"] {
      #expect(FolderPreview.hasSecretName(TreePath(name)), "\(name)")
    }
    for name in ["id_rsa.pub", "kdbx", ".kdbx", "Passwords.txt", "my id_rsa.txt", "p12.md"] {
      #expect(!FolderPreview.hasSecretName(TreePath(name)), "\(name)")
    }
  }

  /// "something new in it".
  @Test("A save tells it once, and not where it is meant")
  func told() throws {
    let home = try Fixture()
    try home.write("Keys.txt", Self.secrets[0])
    try home.write("List.txt", "milk\n")
    let news = try home.notebook.save().news
    #expect(news.map(\.path) == ["Keys.txt"] && news.map(\.kind) == [.secret])
    #expect(news.first?.looksLike == "a private key")
    home.seconds.now += 10
    try home.write("Keys.txt", Self.secrets[0] + "a line more\n")
    #expect(try home.notebook.save().news.isEmpty)
    home.seconds.now += 10
    try home.write("Keys.txt", Self.secrets[0] + Self.secrets[4])
    #expect(try home.notebook.save().news.map(\.looksLike) == ["an access token"])
    home.notebook.namesSecrets = false
    try home.write("id_rsa", "x\n")
    #expect(try home.notebook.save().news.isEmpty)
  }
}
