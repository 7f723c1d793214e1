! C = A*A from Fortran by iso_c_binding. The types repeat the structs of libsparse.h.
module libsparse
  use iso_c_binding
  implicit none
  type, bind(C) :: lsp_csr
    integer(c_int64_t) :: rows = 0, cols = 0, nnz = 0
    type(c_ptr) :: rowptr = c_null_ptr, col = c_null_ptr, val = c_null_ptr
    integer(c_int) :: rowptr_type = 0, col_type = 0, val_type = 0, where = 0
  end type
  interface
    integer(c_int) function lsp_ctx_create(ctx, options, error, error_bytes) bind(C)
      import
      type(c_ptr), intent(out) :: ctx
      type(c_ptr), value :: options
      character(kind=c_char), intent(out) :: error(*)
      integer(c_size_t), value :: error_bytes
    end function
    subroutine lsp_ctx_destroy(ctx) bind(C)
      import
      type(c_ptr), value :: ctx
    end subroutine
    integer(c_int) function lsp_generate(ctx, name, seed, types, A) bind(C)
      import
      type(c_ptr), value :: ctx, types
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: seed
      type(lsp_csr), intent(inout) :: A
    end function
    integer(c_int) function lsp_spgemm(ctx, A, B, options, C, info) bind(C)
      import
      type(c_ptr), value :: ctx, options, info
      type(lsp_csr), intent(in) :: A, B
      type(lsp_csr), intent(inout) :: C
    end function
  end interface
end module

program product
  use libsparse
  implicit none
  type(c_ptr) :: ctx
  type(lsp_csr) :: A, C
  character(kind=c_char) :: error(256)
  real(c_double), pointer :: val(:)
  if (lsp_ctx_create(ctx, c_null_ptr, error, 256_c_size_t) /= 0) stop 1
  if (lsp_generate(ctx, "poisson2d:100" // c_null_char, 1_c_int64_t, c_null_ptr, A) /= 0) stop 1
  if (lsp_spgemm(ctx, A, A, c_null_ptr, C, c_null_ptr) /= 0) stop 1
  call c_f_pointer(C%val, val, [C%nnz]) ! the values where they lie
  print '(i0, a, i0, a, f0.1)', C%rows, " rows, ", C%nnz, " entries; their sum is ", sum(val)
  call lsp_ctx_destroy(ctx)
end program
