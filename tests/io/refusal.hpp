#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace barrio::test {

/// What reading a file says: "code: subject: cause", or "sound". Collective.
std::string verdict(const std::filesystem::path& path);

/// Damage a copy of a file on rank 0 and read it on all ranks.
std::string verdict_after(const std::filesystem::path& good, const std::string& name,
                          const std::function<void(const std::filesystem::path&)>& damage);

/// Expect the code, the cause, and the same words on every rank.
void expect_refusal(const std::string& found, const std::string& code, const std::string& cause);

}  // namespace barrio::test
