import Testing

@testable import System

/// notes-security(7), "Passwords in addresses".
@Suite struct AddressTextTests {
  @Test(
    "An address is told without a password",
    arguments: [
      ("https://ada@git.example.org/x", "https://ada@git.example.org/x"),
      ("https://u:pw@h/x", "https://u…@h/x"), ("https://u%3apw@h/x", "https://u…@h/x"),
      ("https://u%3Apw@h:1/x", "https://u…@h:1/x"), ("https://u:p/w@h/x", "https://u…@h/x"),
      ("https://0123456789abcdef0123@h/x", "https://0123456789abcdef0123@h/x"),
      ("https://ghp_0123456789abcdef0123@h/x", "https://…@h/x"),
      ("https://h:1/a@b", "https://h:1/a@b"),
      (
        "fatal: unable to access 'https://u:p@w@h/x/': no",
        "fatal: unable to access 'https://u…@h/x/': no"
      ),
      ("ssh://git@h/x", "ssh://git@h/x"), ("git@h:x", "git@h:x"), ("/srv/a@b", "/srv/a@b"),
    ])
  func addresses(text: String, shown: String) {
    #expect(AddressText.withoutSecrets(text) == shown)
  }
}
