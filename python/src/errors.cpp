#include "barrio/base/error.hpp"

#include "bindings.hpp"

namespace barrio::python {
namespace {

void set_python_error(const Error& error) {
  const auto* agreed = dynamic_cast<const AgreedError*>(&error);
  nb::object first_rank = nb::none();
  if (agreed != nullptr && agreed->first_rank()) first_rank = nb::int_(*agreed->first_rank());
  const nb::object made = nb::module_::import_("barrio.errors")
                              .attr("make_error")(static_cast<int>(error.code()), error.subject(), error.cause(),
                                                  error.remedy(), agreed != nullptr, first_rank);
  PyErr_SetObject(made.type().ptr(), made.ptr());
}

}  // namespace

void bind_errors(nb::module_& /*module*/) {
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* /*unused*/) {
        try {
          std::rethrow_exception(thrown);
        } catch (const Error& error) {
          try {
            set_python_error(error);
          } catch (nb::python_error& trouble) {
            trouble.restore();
          }
        }
      },
      nullptr);
}

}  // namespace barrio::python
