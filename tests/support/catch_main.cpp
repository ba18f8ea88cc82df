// The main of every test program, in a file of its own because Catch2 version 2 puts its whole
// implementation here.
#define CATCH_CONFIG_RUNNER
#include "support/catch.hpp"

int main(int argc, char* argv[]) {
  return Catch::Session().run(argc, argv);
}
