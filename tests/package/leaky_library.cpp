// A shared library with every fault that check_symbols.sh looks for.

namespace lifering::swim {
void leak() {}
}  // namespace lifering::swim

void stray_leak() {}
