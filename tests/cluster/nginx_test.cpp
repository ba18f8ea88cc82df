// nginx in front of a cluster: each request lands on the member that owns its key.
#include <signal.h>

#include <fstream>
#include <iostream>

#include "cluster/proxy.hpp"
#include "support/catch.hpp"

using namespace lifering_test;

TEST_CASE("nginx sends each key to the member that owns it, also after one was killed", "[proxy]") {
  const auto nginx = find_program("nginx");
  if (!nginx) {
    std::cout << "SKIPPED: nginx is not installed (apt-get install nginx-light)\n";
    return;
  }
  proxy_story story{"nginx", "nginx", {}, SIGHUP};
  story.configure = [&nginx](const std::string& folder, int port) {
    std::ofstream config(folder + "/nginx.conf");
    config << "daemon off;\nworker_processes 1;\nerror_log stderr;\npid " << folder
           << "/nginx.pid;\nevents {}\nhttp {\n  access_log off;\n";
    for (const char* path : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"})
      config << "  " << path << "_temp_path " << folder << '/' << path << ";\n";
    config << "  include " << folder << "/servers;\n  server {\n    listen 127.0.0.1:" << port
           << ";\n    location / { proxy_pass http://lifering; }\n  }\n}\n";
    return std::vector<std::string>{
        *nginx, "-p", folder, "-e", "stderr", "-c", folder + "/nginx.conf"};
  };
  tell(story);
}
